# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
metadata.yaml, which makes a folder of files a bag of rosbag2 (metadata version 9, as in Jazzy).

It is formatted here and not by a YAML library, which would hold the interpreter's lock for several
ticks.  Strings are written in JSON's syntax, which YAML includes.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from rclpy.qos import QoSProfile
import yaml

from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.ros.extras.bag.schemas import type_hash_of

NAME = 'metadata.yaml'
_HEAD = 'rosbag2_bagfile_information:\n'


@dataclass(frozen=True)
class FileRow:
    """One file: its name, the times of its first and last message (ns), their number."""

    name: str
    start_ns: int
    end_ns: int
    messages: int


def index_text(files: Sequence[FileRow], counts: Mapping[BagTopic, int], distribution: str) -> str:
    """Return the description of a bag, without the first line of metadata.yaml."""
    filled = [row for row in files if row.messages]
    start = min((row.start_ns for row in filled), default=0)
    end = max((row.end_ns for row in filled), default=0)
    lines = [
        'version: 9',
        'storage_identifier: mcap',
        'duration:',
        f'  nanoseconds: {end - start}',
        'starting_time:',
        f'  nanoseconds_since_epoch: {start}',
        f'message_count: {sum(row.messages for row in files)}',
        'topics_with_message_count:' if counts else 'topics_with_message_count: []',
        *(line for topic, count in counts.items() for line in _topic(topic, count)),
        'compression_format: ""',
        'compression_mode: ""',
        'relative_file_paths:' if files else 'relative_file_paths: []',
        *(f'  - {json.dumps(row.name)}' for row in files),
        'files:' if files else 'files: []',
        *(line for row in files for line in _file(row)),
        'custom_data: ~',
        f'ros_distro: {json.dumps(distribution)}',
    ]
    return '\n'.join(lines) + '\n'


def write_index(folder: Path, text: str) -> None:
    """
    Replace metadata.yaml.

    :raises OSError: when it cannot be written.
    """
    whole = _HEAD + _indented(text.splitlines(), '  ')
    write_whole(folder / NAME, whole.encode('utf-8'))


def _topic(topic: BagTopic, count: int) -> Iterable[str]:
    yield '  - topic_metadata:'
    yield f'      name: {json.dumps(topic.name)}'
    yield f'      type: {json.dumps(topic.kind)}'
    yield '      serialization_format: cdr'
    yield '      offered_qos_profiles:'
    yield from (f'        {line}' for line in topic.qos.splitlines())
    yield f'      type_description_hash: {json.dumps(type_hash_of(topic.kind))}'
    yield f'    message_count: {count}'


def _file(row: FileRow) -> Iterable[str]:
    yield f'  - path: {json.dumps(row.name)}'
    yield '    starting_time:'
    yield f'      nanoseconds_since_epoch: {row.start_ns}'
    yield '    duration:'
    yield f'      nanoseconds: {row.end_ns - row.start_ns}'
    yield f'    message_count: {row.messages}'


def _indented(lines: Iterable[str], start: str) -> str:
    return ''.join(f'{start}{line}\n' for line in lines)


# rmw's "infinite", as rosbag2 writes it.
_FOREVER = {'sec': 9223372036, 'nsec': 854775807}
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class BagTopic:
    """
    One topic.

    :ivar kind: package/msg/Type.
    :ivar qos: its profile in YAML, a list with one element, as rosbag2 stores it.
    """

    name: str
    kind: str
    qos: str


def kind_of(message_type: type[Any]) -> str:
    """
    Return the ROS name of a message class.

    >>> from std_msgs.msg import Header
    >>> kind_of(Header)
    'std_msgs/msg/Header'
    """
    package, folder, _ = message_type.__module__.split('.', 2)
    return f'{package}/{folder}/{message_type.__name__}'


def qos_text(profile: QoSProfile) -> str:
    """Return a profile in the YAML of rosbag2 (metadata version 9)."""
    return yaml.safe_dump(
        [
            {
                'history': _name(profile.history, 'keep_last'),
                'depth': profile.depth,
                'reliability': _name(profile.reliability, 'reliable'),
                'durability': _name(profile.durability, 'volatile'),
                'deadline': _time(profile.deadline.nanoseconds),
                'lifespan': _time(profile.lifespan.nanoseconds),
                'liveliness': _name(profile.liveliness, 'automatic'),
                'liveliness_lease_duration': _time(profile.liveliness_lease_duration.nanoseconds),
                'avoid_ros_namespace_conventions': profile.avoid_ros_namespace_conventions,
            }
        ],
        sort_keys=False,
    )


def _name(policy: Any, default: str) -> str:
    name = policy.name.lower()
    return default if name in ('system_default', 'unknown', 'best_available') else name


def _time(nanoseconds: int) -> dict[str, int]:
    # Zero is "not set", which is infinite.
    if nanoseconds <= 0:
        return dict(_FOREVER)
    second, rest = divmod(nanoseconds, _SECOND)
    return {'sec': second, 'nsec': rest}
