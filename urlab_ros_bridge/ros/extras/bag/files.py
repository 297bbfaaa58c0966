# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The folder and the files of one bag: a new MCAP file after each time jump."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import re
import time

from urlab_ros_bridge.files import confined
from urlab_ros_bridge.files import McapFile
from urlab_ros_bridge.files import PathRefused
from urlab_ros_bridge.ros.extras.bag.errors import NotWritable
from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.extras.bag.metadata import FileRow
from urlab_ros_bridge.ros.extras.bag.metadata import index_text
from urlab_ros_bridge.ros.extras.bag.metadata import write_index
from urlab_ros_bridge.ros.extras.bag.schemas import schema_of
from urlab_ros_bridge.ros.extras.bag.schemas import type_hash_of
from urlab_ros_bridge.ros.parameters.data import DataParameters


class BagFiles:
    """
    Writes the files and metadata.yaml; for one thread.

    :ivar messages: number of messages in all files.
    """

    def __init__(self, folder: Path, compression: str) -> None:
        """
        Start without a file.

        :param folder: existing empty folder.
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
        """Return the bytes on disk at the last flush."""
        file = self._file
        return self._ended_bytes + (file.size if file is not None else 0)

    @property
    def names(self) -> list[str]:
        """Return the names of the files."""
        return [row.name for row in self._rows()]

    def begin(self) -> int:
        """
        Close the current file and open the next one; return its number.

        :raises OSError: when it cannot be written.
        """
        self._end_file()
        number = len(self._ended)
        path = self.folder / f'{self.folder.name}_{number}.mcap'
        self._file = McapFile(path, self._compression)
        self._stale = True
        return number

    def write(self, topic: BagTopic, stamp_ns: int, data: bytes) -> None:
        """
        Write a message; messages before the first file have no time and are dropped.

        :raises OSError: when it cannot be written.
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
        """Add a metadata record to the current file."""
        if self._file is not None:
            self._file.metadata(name, values)

    def attach(self, name: str, data: bytes, stamp_ns: int) -> None:
        """Attach data to the current file."""
        if self._file is not None:
            self._file.attach(name, 'application/octet-stream', data, stamp_ns)

    def flush(self) -> None:
        """Make the messages so far survive the end of this process."""
        if self._file is not None:
            self._file.flush()
        if self._stale:
            self._stale = False
            self._write_index()

    def close(self) -> None:
        """Close the last file; remove the folder of a bag without files."""
        self._end_file()
        if self._ended:
            self._write_index()
        else:
            self.folder.rmdir()

    def abandon(self) -> None:
        """Close the file without its index, after the disk has failed."""
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
        # `ros2 bag info` reads this when it is given a single file.
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


FOLDER = 'Bags'
# Shells and `ros2 bag` take such a name as it is: no options, no spaces, nothing to expand.
_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+-]*', re.ASCII)
DATED = 'auto'


def make_folder(name: str, options: DataParameters) -> Path:
    """
    Create the folder of a bag and return its absolute path.

    A relative name is in `Bags` of the data folder; an absolute path must be in the data folder,
    unless the parameters allow others.

    :param name: empty or ``auto``: a name with date and time.
    :raises NotWritable: for other paths, and when the folder exists.
    """
    if name in ('', DATED):
        name = time.strftime('bag_%Y_%m_%d-%H_%M_%S')
    parts = Path(name).parts
    if not all(map(_NAME.fullmatch, parts[-1:] if name.startswith('/') else parts)):
        raise NotWritable(
            f'{name!r:.300} is not a name for a bag: letters, digits and _ . + - are allowed, and '
            'each name begins with a letter, a digit or _'
        )
    try:
        path = confined(
            Path(os.path.realpath(options.data_folder)),
            FOLDER,
            name,
            allow_absolute=options.allow_absolute_paths,
            advice='set the parameter data_dir or allow_absolute_paths of the bridge',
        )
        path.mkdir(parents=True)
    except PathRefused as error:
        raise NotWritable(str(error)) from error
    except FileExistsError:
        raise NotWritable(f'{path} already exists; give the bag another name') from None
    except OSError as error:
        raise NotWritable(f'{path}: {error.strerror or error}') from error
    return path
