# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One bag that is being recorded: which topics, from which world, into which files."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urlab_ros_bridge.ros.extras.bag.files import BagFiles
from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.extras.bag.metadata import kind_of
from urlab_ros_bridge.ros.extras.bag.metadata import qos_text
from urlab_ros_bridge.ros.extras.bag.selection import Selection
from urlab_ros_bridge.ros.extras.bag.sink import Now
from urlab_ros_bridge.ros.extras.bag.sink import Sink
from urlab_ros_bridge.ros.extras.bag.writer import BagQueue
from urlab_ros_bridge.ros.extras.bag.writer import BagWriter

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
