# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A service: the number of contacts."""

from typing import Any

from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.context import ServiceContext


def count_contacts(context: ServiceContext, request: Any, response: Any) -> str:
    """Count the contacts of the present instant."""
    return f'{len(context.client.get_contacts().contacts)} contacts'


COUNT = Service('count_contacts', 'std_srvs/srv/Trigger', count_contacts, ('get_contacts',))
FEATURE = Feature('number of contacts', services=(COUNT,))
