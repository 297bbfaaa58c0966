# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that are written while the server or the bridge fails."""

from __future__ import annotations

import contextlib
from pathlib import Path
import struct
import time
from typing import TYPE_CHECKING

from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Channel
from mcap.records import Message
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from urlab_msgs.srv import BagStart
from urlab_msgs.srv import BagStop
import yaml

if TYPE_CHECKING:
    from run_soak import Soak

# s of wall time that a killed bridge may lose: chunks end once a second, and a machine is slow.
MAY_LOSE = 4.0


def begin(soak: Soak) -> Path:
    """Begin a bag; return its folder."""
    soak.bags_begun += 1
    reply = soak.ros.call(BagStart, '/bag_start', name=f'bag_{soak.bags_begun}')
    assert reply.success, f'bag_start: {reply.code}: {reply.message}'
    return Path(reply.path)


def end(soak: Soak) -> int:
    """End the bag; what is acknowledged must be there from now on. Returns how many files."""
    reply = soak.ros.call(BagStop, '/bag_stop')
    assert reply.success, f'bag_stop: {reply.code}: {reply.message}'
    assert reply.messages, 'an empty bag'
    soak.bags[Path(reply.path)] = (list(reply.files), reply.messages)
    return len(reply.files)


def server_killed(soak: Soak) -> None:
    """One bag goes on over a restart of the server, and is ended while there is none."""
    begin(soak)
    time.sleep(soak.window / 2)
    soak.kill('server')
    soak.wait_for_data('/clock')
    time.sleep(0.5)
    with soak.programs.without('server'):
        time.sleep(0.5)
        files = end(soak)
    assert files == 2, f'a bag over a restart of the server has {files} files'


def bridge_killed(soak: Soak) -> None:
    """What was heard some seconds before the bridge is killed is in the file that it leaves."""
    path, began = begin(soak), time.monotonic()
    time.sleep(MAY_LOSE + soak.window)
    killed = time.monotonic()
    with soak.programs.without('bridge'):
        heard = {ns for when, ns in soak.ros.clocks if began + 0.5 < when < killed - MAY_LOSE}
        assert heard, 'no /clock was heard'
        lost = heard - clock_times(path / f'{path.name}_0.mcap')
        assert not lost, f'{len(lost)} of {len(heard)} times of /clock are not in {path}'
        assert yaml.safe_load((path / 'metadata.yaml').read_text()), 'no metadata'


FAULTS = {
    'kill -9 of the server while a bag is written': server_killed,
    'kill -9 of the bridge while a bag is written': bridge_killed,
}


def clock_times(path: Path) -> set[int]:
    """Return the times (ns) of the messages of /clock in a file that may have no end."""
    found, channels = set(), {}
    with path.open('rb') as stream, contextlib.suppress(McapError, struct.error):
        for record in StreamReader(stream).records:
            if isinstance(record, Channel):
                channels[record.id] = record.topic
            elif isinstance(record, Message) and channels[record.channel_id] == '/clock':
                found.add(record.log_time)
    return found


def unreadable(path: Path, files: list[str], messages: int) -> list[str]:
    """Return what is wrong with a bag that was acknowledged, read by the libraries of others."""
    try:
        count = sum(_count(path / name) for name in files)
        metadata = yaml.safe_load((path / 'metadata.yaml').read_text())
        indexed = metadata['rosbag2_bagfile_information']['message_count']
        assert count == messages == indexed, f'{messages} acknowledged, {count} read, {indexed}'
    except Exception as error:  # whatever a reader raises
        return [f'{path.name}: {type(error).__name__}: {error}']
    return []


def _count(path: Path) -> int:
    with path.open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        return sum(1 for _ in reader.iter_decoded_messages())


__all__ = ['FAULTS', 'unreadable']
