# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that record bags; they are the bridge's own and work with every server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import json
from typing import Any

from urlab_ros_bridge.ros.bag import BagError
from urlab_ros_bridge.ros.services.base import Context
from urlab_ros_bridge.ros.services.base import Service
from urlab_ros_bridge.ros.services.base import Unfit


def bag_start(context: Context, request: Any, response: Any) -> str:
    """Record topics into a bag, in step with the simulation."""
    try:
        response.path, response.topics = context.recorder.start(
            request.name, request.topics, request.exclude
        )
    except BagError as error:
        raise Unfit(error.code, str(error)) from error
    return f'recording {len(response.topics)} topics in {response.path}'


def bag_stop(context: Context, request: Any, response: Any) -> str:
    """End the bag and finish its files."""
    try:
        summary = context.recorder.stop()
    except BagError as error:
        raise Unfit(error.code, str(error)) from error
    response.path, response.files = summary.path, list(summary.files)
    response.messages, response.bytes = summary.messages, summary.bytes
    return f'{summary.messages} messages, {summary.bytes} bytes in {", ".join(summary.files)}'


@contextmanager
def reset_noted(context: Context, request: Any) -> Iterator[None]:
    """Tell the bag of a reset: with the episode that it begins, or in the one that goes on."""
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
    recorder.expect({} if request.keep_time else texts)
    try:
        yield
    finally:
        recorder.expect({})
    if request.keep_time:
        now = context.stream.timeline.tick_ns or 0
        recorder.note('reset', {**texts, 'time_ns': str(now), 'keep_time': 'true'})


SERVICES = (
    Service('bag_start', 'urlab_msgs/srv/BagStart', bag_start, ()),
    Service('bag_stop', 'urlab_msgs/srv/BagStop', bag_stop, ()),
)
