# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that record bags; they are the bridge's own and work with every server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
from typing import Any

from urlab_ros_bridge.files import COMPRESSIONS
from urlab_ros_bridge.ros.bag import BagError
from urlab_ros_bridge.ros.bag import BagRecorder
from urlab_ros_bridge.ros.bag.recorder import BagReport
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import Waits
from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.rejection import RequestRejected
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.schema.patterns import pattern_problem
from urlab_ros_bridge.wire.errors import count_of


def _patterns(value: tuple[str, ...]) -> str:
    """Return what is wrong with the first of some patterns that cannot be read."""
    return next(filter(None, map(pattern_problem, value)), '')


@dataclass(frozen=True)
class BagParameters:
    """Where and how bags are written."""

    bag: str = key(
        '',
        'Record a bag with this name from the first tick. "auto": a name made from the date; '
        'empty: no bag until the service bag_start is called.',
    )
    bag_topics: tuple[str, ...] = key(
        ('auto',),
        'Default topics of a bag: names, or regular expressions for whole names. ["auto"]: all '
        'except images, camera_info and point clouds, which would be rendered for it. Time and '
        'transforms are always included.',
        check=_patterns,
        live=True,
    )
    bag_compression: str = key(
        'zstd',
        'Compression of bags, in chunks of about one megabyte.',
        choices=COMPRESSIONS,
        live=True,
    )
    data_dir: str = key(
        '',
        "Data folder; bags are written to Bags below it. Empty: urlab in the user's data folder "
        '($XDG_DATA_HOME or ~/.local/share).',
    )
    allow_absolute_paths: bool = key(
        False, 'Allow bag_start to write bags outside the data folder.'
    )


def bag_start(context: ServiceContext, request: Any, response: Any) -> str:
    """Record topics into a bag, in step with the simulation."""
    try:
        response.path, response.topics = context.recorder.start(
            request.name, request.topics, request.exclude
        )
    except BagError as error:
        raise RequestRejected(error.code, str(error)) from error
    return f'recording {len(response.topics)} topics in {response.path}'


def bag_stop(context: ServiceContext, request: Any, response: Any) -> str:
    """End the bag and finish its files."""
    try:
        summary = context.recorder.stop()
    except BagError as error:
        raise RequestRejected(error.code, str(error)) from error
    response.path, response.files = summary.path, list(summary.files)
    response.messages, response.bytes = summary.messages, summary.bytes
    messages = count_of(summary.messages, 'message')
    return f'{messages}, {summary.bytes} bytes in {", ".join(summary.files)}'


@contextmanager
def reset_noted(context: ServiceContext, request: Any, keeps_time: bool) -> Iterator[None]:
    """Note a reset in the bag: with the episode that it begins, or in the current one."""
    texts = {
        'cause': 'reset',
        'keyframe': request.keyframe_name,
        'seed': str(request.seed),
        'positions': json.dumps(
            [
                [item.articulation, item.joint, item.position]
                for item in request.per_articulation_qpos
            ]
        ),
    }
    recorder = context.recorder
    recorder.expect({} if keeps_time else texts)
    try:
        yield
    finally:
        recorder.expect({})
    if keeps_time:
        now = context.timeline.tick_ns or 0
        recorder.note('reset', {**texts, 'time_ns': str(now), 'keep_time': 'true'})


SERVICES = (
    Service('bag_start', 'urlab_msgs/srv/BagStart', bag_start, (), waits=Waits.FOR_OTHERS),
    Service('bag_stop', 'urlab_msgs/srv/BagStop', bag_stop, (), waits=Waits.FOR_OTHERS),
)


def attach(bridge: Bridge) -> Attached:
    """Make the recorder; with the parameter bag it begins at the start."""
    recorder = bridge.add(BagRecorder(bridge))

    def start() -> None:
        name = bridge.settings().bag
        try:
            if name:
                recorder.start(name, check=False)
        except (BagError, BadPattern) as error:
            bridge.log('warning', f'cannot record a bag: {error}')

    return Attached(
        start=start,
        jump=recorder.epoch,
        beat=lambda now: recorder.watch(),
        status=lambda: [_status(recorder.report())],
        stop=recorder.close,
    )


def _status(report: BagReport | None) -> Status:
    if report is None:
        return Status('bag', 'not recording', {})
    level, text = 'ok', f'recording {report.path}'
    if report.problem:
        level, text = 'error', report.problem
    elif report.waits:
        level, text = 'warning', f'{text}; publishing waits because the disk is too slow'
    values = {
        'path': report.path,
        'messages': report.messages,
        'bytes': report.bytes,
        'files': report.files,
        'waits for the disk': report.waits,
        'waited (s)': report.waited,
    }
    return Status('bag', text, values, level)


FEATURE = Feature('bags', BagParameters, group='Bags', services=SERVICES, attach=attach)
