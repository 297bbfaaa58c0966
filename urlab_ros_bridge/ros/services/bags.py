# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that record bags; they are the bridge's own and work with every server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import json
from typing import Any

from urlab_ros_bridge.ros.bag import BagError
from urlab_ros_bridge.ros.bag import BagRecorder
from urlab_ros_bridge.ros.bag.parameters import BagParameters
from urlab_ros_bridge.ros.bag.recorder import BagReport
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.wire.errors import count_of


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
    Service('bag_start', 'urlab_msgs/srv/BagStart', bag_start, (), group=ServiceGroup.INDEPENDENT),
    Service('bag_stop', 'urlab_msgs/srv/BagStop', bag_stop, (), group=ServiceGroup.INDEPENDENT),
)


class Bags(Part):
    """The recorder; with the parameter bag it begins at the start."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._recorder = bridge.add(BagRecorder(bridge))

    def start(self) -> None:
        """Begin the bag of the parameter."""
        name = self._bridge.settings(BagParameters).bag
        try:
            if name:
                self._recorder.start(name, check=False)
        except (BagError, BadPattern) as error:
            self._bridge.log('warning', f'cannot record a bag: {error}')

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Begin another file."""
        self._recorder.epoch(stamp_ns, went_back)

    def every_second(self, now: float) -> None:
        """Check the disk."""
        self._recorder.watch()

    def statuses(self) -> list[Status]:
        """Return what is being recorded."""
        return [_status(self._recorder.report())]

    def stop(self) -> None:
        """Finish the bag."""
        self._recorder.close()


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


FEATURE = Feature('bags', BagParameters, group='Bags', services=SERVICES, attach=Bags)
