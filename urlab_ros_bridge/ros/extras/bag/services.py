# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that record bags; they are the bridge's own and work with every server."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.extras.bag import BagError
from urlab_ros_bridge.ros.extras.bag import BagRecorder
from urlab_ros_bridge.ros.extras.bag.parameters import BagParameters
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.wire.errors import count_of


def bag_start(context: ServiceContext, request: Any, response: Any) -> str:
    """Record topics into a bag, in step with the simulation."""
    try:
        response.path, response.topics = context.part(BagRecorder).begin(
            request.name, request.topics, request.exclude
        )
    except BagError as error:
        raise RequestRejected(error.code, str(error)) from error
    return f'recording {len(response.topics)} topics in {response.path}'


def bag_stop(context: ServiceContext, request: Any, response: Any) -> str:
    """End the bag and finish its files."""
    try:
        summary = context.part(BagRecorder).end()
    except BagError as error:
        raise RequestRejected(error.code, str(error)) from error
    response.path, response.files = summary.path, list(summary.files)
    response.messages, response.bytes = summary.messages, summary.bytes
    messages = count_of(summary.messages, 'message')
    return f'{messages}, {summary.bytes} bytes in {", ".join(summary.files)}'


SERVICES = (
    Service('bag_start', 'urlab_msgs/srv/BagStart', bag_start, (), group=ServiceGroup.INDEPENDENT),
    Service('bag_stop', 'urlab_msgs/srv/BagStop', bag_stop, (), group=ServiceGroup.INDEPENDENT),
)


FEATURE = Feature('bags', BagParameters, group='Bags', services=SERVICES, attach=BagRecorder)
