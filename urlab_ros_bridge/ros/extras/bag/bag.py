# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One bag that is being recorded: which topics, from which world, into which files."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
import os
from pathlib import Path
import platform
import re
from typing import Any

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.extras.bag.errors import NoSuchTopic
from urlab_ros_bridge.ros.extras.bag.files import BagFiles
from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.extras.bag.metadata import kind_of
from urlab_ros_bridge.ros.extras.bag.metadata import qos_text
from urlab_ros_bridge.ros.extras.bag.sink import Now
from urlab_ros_bridge.ros.extras.bag.sink import Sink
from urlab_ros_bridge.ros.extras.bag.writer import BagQueue
from urlab_ros_bridge.ros.extras.bag.writer import BagWriter
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.schema.patterns import compile_pattern
from urlab_ros_bridge.schema.patterns import Pattern

PACKAGE = 'urlab_ros_bridge'


def provenance(handshake: Handshake | None, settings: Settings) -> dict[str, str]:
    """Return world, versions and the parameters that are not at their defaults, as texts."""
    texts = {
        'bridge_version': _version(),
        'ros_distro': os.environ.get('ROS_DISTRO', ''),
        'python_version': platform.python_version(),
        'parameters': json.dumps(
            {
                name: getattr(settings, row.field)
                for name, row in settings.TABLE.items()
                if getattr(settings, row.field) != row.default
            }
        ),
    }
    if handshake is not None:
        texts |= {
            'world': handshake.world,
            'timestep': '' if handshake.timestep is None else repr(handshake.timestep),
            'server_version': handshake.urlab_version,
            'mujoco_version': handshake.mujoco_version,
            'robots': ', '.join(handshake.articulations),
            'model_sha256': hashlib.sha256(handshake.mjb).hexdigest() if handshake.mjb else '',
        }
    return texts


def _version() -> str:
    from importlib import metadata  # with it come email, zipfile and lzma; only bags need it

    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ''


# Other topics are of little use without time and transforms.
ALWAYS = (r'/clock', r'(/.*)?/tf', r'(/.*)?/tf_static')
# Recorded only by name: images and clouds, which are rendered only for subscribers and are most of
# the bytes of a bag, and hidden topics, as with `ros2 bag record`.
LARGE = (r'.*/image_raw(/.*)?', r'.*/camera_info', r'.*/points(/.*)?')
HIDDEN = (r'.*/_.*',)


class Selection:
    """
    Decides which topics are recorded.

    A pattern must match the whole name: from its leading slash on, or without the namespace of
    the node (``odom`` is /odom, or /fleet/odom of a node in /fleet).
    """

    def __init__(
        self, topics: Iterable[str], exclude: Iterable[str], namespace: str = '/'
    ) -> None:
        """
        Read the patterns.

        :param topics: names or regular expressions; none: all but images, clouds and
            hidden topics.
        :param exclude: names or regular expressions of topics to leave out; takes precedence.
        :raises BadPattern: when one is not a regular expression.
        """
        self._start = namespace.rstrip('/') + '/'
        self._wanted = {text: _compile(text) for text in topics}
        self._excluded = [_compile(text) for text in exclude]
        self._always: list[Pattern] = [re.compile(text) for text in ALWAYS]
        left_out = () if self._wanted else (*LARGE, *HIDDEN)
        self._left_out: list[Pattern] = [re.compile(text) for text in left_out]

    def wants(self, topic: str) -> bool:
        """Return whether a topic is recorded, by its full name."""
        if self._matches(topic, self._excluded) or self._matches(topic, self._left_out):
            return False
        return (
            not self._wanted
            or self._matches(topic, self._wanted.values())
            or self._matches(topic, self._always)
        )

    def check(self, topics: Iterable[str]) -> None:
        """
        Check that each name matches a topic.

        :raises NoSuchTopic: when one matches none.
        """
        names = sorted(topics)
        for text, pattern in self._wanted.items():
            if not any(self._matches(name, (pattern,)) for name in names):
                raise NoSuchTopic(text, names)

    def _matches(self, topic: str, patterns: Iterable[Pattern]) -> bool:
        return any(
            pattern.fullmatch(topic) or pattern.fullmatch(topic.removeprefix(self._start))
            for pattern in patterns
        )


def _compile(text: str) -> Pattern:
    if not text:
        raise BadPattern(text, 'it is empty')
    return compile_pattern(text)


MODEL_NAME = 'model.mjb'


@dataclass(frozen=True)
class Origin:
    """The provenance of messages: texts, and the compiled model (empty: none)."""

    texts: Mapping[str, str]
    model: bytes = b''


class Bag:
    """
    Files, the queue of their writer, and the sinks of their topics.

    :ivar has_file: whether it has a file: the first one starts with a tick.
    """

    def __init__(
        self,
        folder: Path,
        selection: Selection,
        compression: str,
        now: Now,
        origin: Callable[[], Origin],
        on_problem: Callable[[str], None],
    ) -> None:
        """
        Create a bag without files.

        :param folder: existing empty folder.
        :param origin: called in the thread of the writer.
        """
        self.folder = folder
        self.selection = selection
        self.has_file = False
        self.queue = BagQueue()
        self.files = BagFiles(folder, compression)
        self.writer = BagWriter(self.files, self.queue, on_problem)
        self._now = now
        self._origin = origin
        self._described: Origin | None = None
        self._attached: set[bytes] = set()
        self._sinks: dict[tuple[str, str], Sink] = {}

    def sink(self, name: str, message_type: type[Any], profile: Any) -> Sink | None:
        """Return the sink of a topic, None when the topic is not selected."""
        if not self.selection.wants(name):
            return None
        kind = kind_of(message_type)
        found = self._sinks.get((name, kind))
        if found is None:
            topic = BagTopic(name, kind, qos_text(profile))
            found = Sink(topic, message_type, self.queue.put, self._now)
            self._sinks[name, kind] = found
        return found

    def begin_file(
        self, stamp_ns: int, cause: Mapping[str, str], latched: Iterable[tuple[Sink, Any]]
    ) -> None:
        """Start a new file with these messages."""
        self.has_file = True
        self.queue.do(lambda: self._begin(stamp_ns, cause))
        for sink, message in latched:
            sink.add_at(message, stamp_ns)

    def note(self, name: str, texts: Mapping[str, str]) -> None:
        """Add a metadata record to the file."""
        self.queue.do(lambda: self.files.note(name, texts))

    def describe(self, stamp_ns: int) -> None:
        """Write the provenance again if it has changed."""
        self.queue.do(lambda: self._describe(stamp_ns))

    def _begin(self, stamp_ns: int, cause: Mapping[str, str]) -> None:
        number = self.files.begin()
        self._described = None
        self._describe(stamp_ns)
        self.files.note('episode', {'number': str(number), 'start_ns': str(stamp_ns), **cause})

    def _describe(self, stamp_ns: int) -> None:
        origin = self._origin()
        if origin == self._described:
            return
        self._described = origin
        self.files.note('urlab', origin.texts)
        # A model is attached only to its first file: there may be many episodes.
        if origin.model and origin.model not in self._attached:
            self._attached.add(origin.model)
            self.files.attach(MODEL_NAME, origin.model, stamp_ns)
