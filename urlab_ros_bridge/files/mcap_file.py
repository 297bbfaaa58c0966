# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One MCAP file of serialised ROS 2 messages, as Foxglove, PlotJuggler and `ros2 bag` open it."""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
from pathlib import Path

LIBRARY = 'urlab_ros_bridge'
COMPRESSIONS = ('zstd', 'lz4', 'none')
# A reader decompresses whole chunks, and a killed writer loses the last one.
CHUNK_BYTES = 1 << 20


def require_mcap() -> None:
    """
    See that files can be written here.

    :raises ImportError: without the package mcap, or with one that is too old.
    """
    from mcap.writer import Writer

    if not hasattr(Writer, 'flush'):
        raise ImportError('the package mcap is older than 1.6')


class McapFile:
    """
    Writes a file; not for two threads at a time.

    :ivar messages: how many were written; `counts` of each topic.
    :ivar size: bytes on the disk at the last flush.
    :ivar start_ns, end_ns: the earliest and the latest time of a message; None before the first.
    """

    def __init__(
        self, path: Path, compression: str = 'zstd', chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """
        Begin the file.

        :param compression: one of COMPRESSIONS, of each chunk by itself.
        :raises OSError: when it cannot be written, or is there already.
        """
        from mcap.writer import CompressionType
        from mcap.writer import Writer

        self.path = path
        self.messages = 0
        self.size = 0
        self.counts: dict[str, int] = {}
        self.start_ns: int | None = None
        self.end_ns: int | None = None
        self._file = path.open('xb')
        self._writer = Writer(
            self._file,
            chunk_size=chunk_bytes,
            compression=CompressionType[compression.upper()],
        )
        self._writer.start(profile='ros2', library=LIBRARY)
        self._schemas: dict[str, int] = {}
        self._topics: dict[int, str] = {}

    def channel(
        self, topic: str, kind: str, schema: str, metadata: Mapping[str, str] | None = None
    ) -> int:
        """
        Announce a topic and return the number for `write`.

        :param kind: its type, as package/msg/Type.
        :param schema: the text of the .msg file and of those that it uses (encoding ros2msg).
        :param metadata: what else readers may know, as rosbag2's `offered_qos_profiles`.
        """
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(kind, 'ros2msg', schema.encode())
        number = self._writer.register_channel(
            topic, 'cdr', self._schemas[kind], dict(metadata or {})
        )
        self._topics[number] = topic
        self.counts.setdefault(topic, 0)
        return number

    def write(self, channel: int, stamp_ns: int, data: bytes, sequence: int = 0) -> None:
        """
        Write a message; the time of the log and of publication are both `stamp_ns`.

        :param data: CDR with its four bytes of encapsulation.
        """
        self._writer.add_message(channel, stamp_ns, data, stamp_ns, sequence)
        self.messages += 1
        self.counts[self._topics[channel]] += 1
        if self.start_ns is None or stamp_ns < self.start_ns:
            self.start_ns = stamp_ns
        if self.end_ns is None or stamp_ns > self.end_ns:
            self.end_ns = stamp_ns

    def metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Add a record of texts."""
        self._writer.add_metadata(name, dict(values))

    def attach(self, name: str, media_type: str, data: bytes, stamp_ns: int) -> None:
        """Add a whole file."""
        self._writer.add_attachment(stamp_ns, stamp_ns, name, media_type, data)

    def flush(self) -> None:
        """End the chunk, so that all messages so far survive the end of this process."""
        self._writer.flush()
        self.size = self._file.tell()

    def close(self) -> None:
        """Write the indexes and end the file."""
        try:
            self._writer.finish()
            self.size = self._file.tell()
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Close the file without indexes: the disk takes nothing any more."""
        with contextlib.suppress(OSError):
            self._file.close()
