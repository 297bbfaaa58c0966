# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The files of one bag: an MCAP file for each stretch of time that does not go back."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path

from urlab_ros_bridge.files import McapFile
from urlab_ros_bridge.ros.bag.storage.index import FileRow
from urlab_ros_bridge.ros.bag.storage.index import index_text
from urlab_ros_bridge.ros.bag.storage.index import write_index
from urlab_ros_bridge.ros.bag.storage.schemas import schema_of
from urlab_ros_bridge.ros.bag.storage.schemas import type_hash_of
from urlab_ros_bridge.ros.bag.storage.topic import BagTopic


class BagFiles:
    """
    Writes files and their index; for one thread.

    :ivar messages, bytes: in all files, those of ended files with their indexes.
    """

    def __init__(self, folder: Path, compression: str) -> None:
        """
        Begin with no file.

        :param folder: exists, and is empty.
        """
        self.folder = folder
        self.messages = 0
        self._compression = compression
        self._file: McapFile | None = None
        self._ended: list[FileRow] = []
        self._ended_bytes = 0
        self._counts: dict[BagTopic, int] = {}
        self._channels: dict[BagTopic, int] = {}
        self._in_file: dict[BagTopic, int] = {}
        self._stale = False

    @property
    def size(self) -> int:
        """Return the bytes on the disk, at the last flush."""
        file = self._file
        return self._ended_bytes + (file.size if file is not None else 0)

    @property
    def names(self) -> list[str]:
        """Return the names of the files."""
        return [row.name for row in self._rows()]

    def begin(self) -> int:
        """
        End the file and begin the next one; return its number.

        :raises OSError: when the disk refuses.
        """
        self._end_file()
        number = len(self._ended)
        path = self.folder / f'{self.folder.name}_{number}.mcap'
        self._file = McapFile(path, self._compression)
        self._stale = True
        return number

    def write(self, topic: BagTopic, stamp_ns: int, data: bytes) -> None:
        """
        Write a message; one before the first file is left out: it has no time.

        :raises OSError: when the disk refuses.
        :raises SchemaMissing: when the definition of its type is not installed.
        """
        file = self._file
        if file is None:
            return
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._announce(file, topic)
        count = self._in_file[topic]
        file.write(channel, stamp_ns, data, count)
        self._in_file[topic] = count + 1
        self._counts[topic] += 1
        self.messages += 1

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """Add texts to the present file."""
        if self._file is not None:
            self._file.metadata(name, values)

    def attach(self, name: str, data: bytes, stamp_ns: int) -> None:
        """Add a whole file to the present one."""
        if self._file is not None:
            self._file.attach(name, 'application/octet-stream', data, stamp_ns)

    def flush(self) -> None:
        """Make what was written so far survive the end of this process."""
        if self._file is not None:
            self._file.flush()
        if self._stale:
            self._stale = False
            self._write_index()

    def close(self) -> None:
        """End the last file; a bag without any leaves nothing behind."""
        self._end_file()
        if self._ended:
            self._write_index()
        else:
            self.folder.rmdir()

    def abandon(self) -> None:
        """Let go of the file as it is: the disk takes nothing any more."""
        if self._file is not None:
            self._file.abandon()

    def _announce(self, file: McapFile, topic: BagTopic) -> int:
        channel = file.channel(
            topic.name,
            topic.kind,
            schema_of(topic.kind),
            {'offered_qos_profiles': topic.qos, 'topic_type_hash': type_hash_of(topic.kind)},
        )
        self._channels[topic] = channel
        self._in_file[topic] = 0
        self._counts.setdefault(topic, 0)
        self._stale = True
        return channel

    def _end_file(self) -> None:
        file = self._file
        if file is None:
            return
        row = self._row(file)
        # What `ros2 bag info` reads where it is given the file alone.
        file.metadata('rosbag2', {'serialized_metadata': self._text([row], self._in_file)})
        file.close()
        self._ended.append(row)
        self._ended_bytes += file.size
        self._file = None
        self._channels, self._in_file = {}, {}

    def _rows(self) -> list[FileRow]:
        file = self._file
        return [*self._ended, *([self._row(file)] if file is not None else [])]

    @staticmethod
    def _row(file: McapFile) -> FileRow:
        return FileRow(file.path.name, file.start_ns or 0, file.end_ns or 0, file.messages)

    @staticmethod
    def _text(rows: list[FileRow], counts: Mapping[BagTopic, int]) -> str:
        return index_text(rows, counts, os.environ.get('ROS_DISTRO', ''))

    def _write_index(self) -> None:
        write_index(self.folder, self._text(self._rows(), self._counts))


__all__ = ['BagFiles']
