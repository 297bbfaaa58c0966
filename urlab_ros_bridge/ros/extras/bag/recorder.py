# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Record published and received messages in step with the simulation.

A bag starts and ends between two ticks.  When time jumps back, it continues in a new file, which
starts with the latched messages again, so that each file can be used on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import shutil
import threading
from typing import Any

from urlab_ros_bridge.files import require_mcap
from urlab_ros_bridge.ros.extras.bag.bag import Bag
from urlab_ros_bridge.ros.extras.bag.bag import Origin
from urlab_ros_bridge.ros.extras.bag.errors import BagActive
from urlab_ros_bridge.ros.extras.bag.errors import BagError
from urlab_ros_bridge.ros.extras.bag.errors import BagFailed
from urlab_ros_bridge.ros.extras.bag.errors import BagsUnavailable
from urlab_ros_bridge.ros.extras.bag.errors import BagTimeout
from urlab_ros_bridge.ros.extras.bag.errors import NoBag
from urlab_ros_bridge.ros.extras.bag.files import make_folder
from urlab_ros_bridge.ros.extras.bag.parameters import BagParameters
from urlab_ros_bridge.ros.extras.bag.provenance import provenance
from urlab_ros_bridge.ros.extras.bag.selection import Selection
from urlab_ros_bridge.ros.extras.bag.sink import Sink
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.taps import taps_of
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.parameters.data import DataParameters
from urlab_ros_bridge.ros.topics.reset_counts import ResetCounts
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.wire.errors import count_of

ALL = ('auto',)
# Time limit for writing the queued messages when a bag ends (s).
END_SECONDS = 60.0
# Time limit for writing the beginning of a bag; a disk that is only slow loses nothing (s).
BEGIN_SECONDS = 3.0


@dataclass(frozen=True)
class BagSummary:
    """A finished bag: its folder, the names of its files, and their contents in numbers."""

    path: str
    files: tuple[str, ...]
    messages: int
    bytes: int


class BagRecorder(Part):
    """
    Records at most one bag at a time; `begin` and `end` may be called from any thread.

    :ivar bag: the current bag; one that failed stays until `end` or the next `begin`.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.bag: Bag | None = None
        self._bridge = bridge
        self._taps = taps_of(bridge.node)
        self._run_in_stream = bridge.stream_tasks.run_and_wait
        self._cause: Mapping[str, str] = {}
        self._lock = threading.Lock()

    def start(self) -> None:
        """Note resets from now on, and begin the bag of the parameter, if it names one."""
        self._bridge.part(ResetCounts).notes.append(self._note_reset)
        name = self._bridge.settings(BagParameters).bag
        try:
            if name:
                self.begin(name, check=False)
        except (BagError, BadPattern) as error:
            self._bridge.log('warning', f'cannot record a bag: {error}')

    def begin(
        self,
        name: str,
        topics: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        check: bool = True,
    ) -> tuple[str, list[str]]:
        """
        Begin a bag with the next tick; return its folder and the recorded topics.

        :param topics, exclude: see `Selection`; none: those of the parameters.
        :param check: refuse names that match no topic.
        :raises BagError: with the reason, also when the disk refuses its beginning.
        """
        settings = self._bridge.settings(BagParameters)
        with self._lock:
            if self.bag is not None and not self.bag.writer.problem:
                raise BagActive(self.bag.folder)
            try:
                require_mcap()
            except ImportError as error:
                raise BagsUnavailable(error) from error
            wanted = tuple(topics) or settings.bag_topics
            selection = Selection(
                () if wanted == ALL else wanted, exclude, self._bridge.node.get_namespace()
            )
            if check:
                selection.check(self._taps.names())
            folder = make_folder(name, self._bridge.settings(DataParameters))
            bag = Bag(
                folder,
                selection,
                settings.bag_compression,
                self._now,
                self._origin,
                lambda text: self._bridge.log('warning', f'bag recording stopped: {text}'),
            )
            recorded: list[str] = []
            if not self._run_in_stream(lambda: recorded.extend(self._install(bag))):
                folder.rmdir()
                raise BagTimeout('the stream thread of the bridge is not responding')
            if bag.has_file:
                self._check_disk(bag)
            self._bridge.log('info', f'recording {len(recorded)} topics in {folder}')
            return str(folder), recorded

    def end(self) -> BagSummary:
        """
        End the bag after the current tick; return its summary.

        :raises BagError: with the reason; a bag that failed is closed, one that cannot be ended in
            time continues.
        """
        with self._lock:
            bag = self.bag
            if bag is None:
                raise NoBag
            if not self._run_in_stream(self._remove):
                raise BagTimeout('the stream thread of the bridge is not responding')
            return self._end(bag)

    def stop(self) -> None:
        """End the bag, if there is one, after all publishing threads have ended."""
        with self._lock:  # a service may be ending it
            bag = self.bag
            if bag is None:
                return
            self._remove()
            try:
                self._end(bag)
            except BagError as error:
                self._bridge.log('warning', str(error))

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Begin a file when there is none, or when time jumped back."""
        bag = self.bag
        if bag is None:
            return
        if bag.has_file and not went_back:
            bag.describe(stamp_ns)
            return
        cause, self._cause = self._cause, {}
        default = 'time went back' if bag.has_file else 'the first tick'
        bag.begin_file(stamp_ns, {'cause': default, **cause}, self._latched())

    @contextmanager
    def _note_reset(self, texts: Mapping[str, str], keeps_time: bool) -> Iterator[None]:
        """Note a reset in the bag: with the episode that it begins, or in the current one."""
        self._cause = {} if keeps_time else texts
        try:
            yield
        finally:
            self._cause = {}
        bag = self.bag
        if keeps_time and bag is not None:
            now = self._bridge.timeline.tick_ns or 0
            bag.note('reset', {**texts, 'time_ns': str(now), 'keep_time': 'true'})

    def every_second(self, now: float) -> None:
        """Stop recording into a bag that has failed."""
        if self.bag is not None and self.bag.writer.problem:
            self._taps.record(None)

    def statuses(self) -> list[Status]:
        """Return the state of the bag."""
        bag = self.bag
        if bag is None:
            return [Status('bag', 'not recording', {})]
        files, queue, problem = bag.files, bag.queue, bag.writer.problem
        level, text = 'ok', f'recording {bag.folder}'
        if problem:
            level, text = 'error', problem
        elif queue.waits:
            level, text = 'warning', f'{text}; publishing waits because the disk is too slow'
        values = {
            'path': str(bag.folder),
            'messages': files.messages,
            'bytes': files.size,
            'files': len(files.names),
            'waits for the disk': queue.waits,
            'waited (s)': queue.waited,
        }
        return [Status('bag', text, values, level)]

    def _install(self, bag: Bag) -> list[str]:
        self.bag = bag
        bag.writer.start()
        recorded = self._taps.record(bag.sink)
        now = self._now()
        if now is not None:
            bag.begin_file(now, {'cause': 'the bag was started'}, self._latched())
        return recorded

    def _now(self) -> int | None:
        """Return the time of the tick that is being published, None before the first."""
        return self._bridge.timeline.tick_ns

    def _latched(self) -> list[tuple[Sink, Any]]:
        """
        Return the last messages of recorded latched topics, with their sinks.

        Messages with a stamp are left out: they are published again for a new subscriber, and a
        bag counts as one.
        """
        return [
            (sink, message)
            for sink, message in self._taps.latched()
            if isinstance(sink, Sink) and not sink.has_stamp(message)
        ]

    def _check_disk(self, bag: Bag) -> None:
        """Raise BagFailed, with no bag left, when the beginning of a bag cannot be written."""
        bag.writer.flush(BEGIN_SECONDS)
        if bag.writer.problem:
            self._run_in_stream(self._remove)
            shutil.rmtree(bag.folder, ignore_errors=True)
            raise BagFailed(bag.writer.problem)

    def _remove(self) -> None:
        self._taps.record(None)
        self.bag = None

    def _end(self, bag: Bag) -> BagSummary:
        in_time = bag.writer.end(END_SECONDS)
        if bag.writer.problem:
            raise BagFailed(bag.writer.problem)
        if not in_time:
            raise BagTimeout(f'{bag.folder} is still being written after {END_SECONDS:g} s')
        files = bag.files
        summary = BagSummary(str(bag.folder), tuple(files.names), files.messages, files.size)
        self._bridge.log(
            'info',
            f'recorded {count_of(summary.messages, "message")} in '
            f'{count_of(len(summary.files), "file")} in {bag.folder}',
        )
        return summary

    def _origin(self) -> Origin:
        handshake = self._bridge.part(ServerLink).handshake
        model = handshake.mjb if handshake is not None else b''
        return Origin(provenance(handshake, self._bridge.all_settings()), model)
