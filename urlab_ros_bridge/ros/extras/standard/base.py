# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The table of the simulation standard, and the answers of its services.

A row of the table lists the features of a service, and what each of them needs of the server.
The advertised features and the answer RESULT_FEATURE_UNSUPPORTED come from the same lookup in the
rows, so they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.extras.standard.results import OK
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.results import to_result
from urlab_ros_bridge.ros.extras.standard.results import UNSUPPORTED
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.services.base import handle
from urlab_ros_bridge.ros.services.context import ServiceContext

# Extensions of the protocol, as in `hello_ok.extensions`.
ENTITIES = 'entities'
SPAWN = 'spawn'
KEEP_TIME = 'keep_time'
KEEP_STATE = 'keep_state'
# No extension: the compiled model can be read on this machine.
MODEL = 'model'


class StandardFeature(IntEnum):
    """Numbers of simulation_interfaces/msg/SimulatorFeatures, those that are served here."""

    SPAWNING = 0
    DELETING = 1
    NAMED_POSES = 2
    ENTITY_TAGS = 4
    ENTITY_BOUNDS = 5
    ENTITY_BOUNDS_BOX = 6
    ENTITY_CATEGORIES = 8
    SPAWNING_RESOURCE_STRING = 9
    ENTITY_STATE_GETTING = 10
    ENTITY_STATE_SETTING = 11
    ENTITY_INFO_GETTING = 12
    SPAWNABLES = 14
    SIMULATION_RESET = 20
    SIMULATION_RESET_TIME = 21
    SIMULATION_RESET_STATE = 22
    SIMULATION_RESET_SPAWNED = 23
    SIMULATION_STATE_GETTING = 24
    SIMULATION_STATE_SETTING = 25
    SIMULATION_STATE_PAUSE = 26
    STEP_SIMULATION_SINGLE = 31
    STEP_SIMULATION_MULTIPLE = 32
    STEP_SIMULATION_ACTION = 33
    WORLD_INFO_GETTING = 44
    SPAWNING_ENTITIES = 50


PACKAGE = 'simulation_interfaces'
# A response waits this long for the bridge to publish a changed world (s).
_DISCOVERY_SECONDS = 5.0


def standard(
    handler: Callable[..., Any],
    serves: Mapping[StandardFeature, str] | None = None,
    *,
    name: str = '',
    needs: str = '',
    ops: tuple[str, ...] = (),
    kind: str = 'srv',
    group: ServiceGroup | Callable[[Any], ServiceGroup] = ServiceGroup.WORLD,
) -> Service:
    """
    Return the row of a service or action of the standard; its type follows from its name.

    :param name: empty: that of the handler.

    >>> standard(print, name='get_entities').type_name
    'simulation_interfaces/srv/GetEntities'
    """
    name = name or handler.__name__
    words = ''.join(word.capitalize() for word in name.split('_'))
    type_name = f'{PACKAGE}/{kind}/{words}'
    return Service(name, type_name, handler, ops, 'standard', serves or {}, needs, kind, group)


class SimulationContext(ServiceContext):
    """
    The context of handlers of the standard.

    :ivar rows: the whole table.
    :ivar paused_epoch: epoch in which a client requested PAUSED, not STOPPED.
    """

    def __init__(self, bridge: Bridge, rows: tuple[Service, ...]) -> None:
        super().__init__(bridge)
        self.rows = rows
        self.paused_epoch: int | None = None

    def has(self, need: str) -> bool:
        """Return whether the server has an extension, or whether its model can be read here."""
        if need != MODEL:
            return super().has(need)
        handshake = self.link.handshake
        try:
            return handshake is not None and handshake.model is not None
        except ModelUnavailable:
            return False

    @property
    def features(self) -> list[StandardFeature]:
        """Return the features of the connected server, in order; none without a connection."""
        if not self.link.state.connected:
            return []
        return sorted(
            {
                feature
                for row in self.rows
                if self.has(row.needs)
                for feature, need in row.serves.items()
                if self.has(need)
            }
        )

    def require(self, feature: StandardFeature, what: str) -> None:
        """
        Raise unless a feature is served at present.

        :param what: the name of what was requested.
        :raises StandardRejected: when it is not served at present.
        """
        if feature not in self.features:
            raise StandardRejected(
                UNSUPPORTED, f'{what}: not supported by this server ({feature.name})'
            )

    @property
    def handshake(self) -> Handshake:
        """
        Return what the server has reported about its world.

        :raises RequestRejected: without a connection.
        """
        client, handshake = self.client, self.link.handshake
        return client.handshake if handshake is None else handshake

    def wait_for_world(self) -> None:
        """Wait until the bridge publishes the world that the services know; not forever."""
        link = self.link
        wanted = _revision(link.client.handshake)
        link.check_now()
        link.wait_for(
            lambda: (
                self.stopping or (link.state.connected and _revision(link.handshake) >= wanted)
            ),
            _DISCOVERY_SECONDS,
        )


def _revision(handshake: Handshake | None) -> int:
    """Return how often the world of a server had changed by this reply."""
    return 0 if handshake is None else handshake.raw.get('world_revision', 0)


def answer(row: Service, context: SimulationContext, request: Any, response: Any) -> Any:
    """Handle a request; any error becomes a result and its text."""
    _, error = handle(row, context, request, response)
    if hasattr(response, 'result'):
        result, text = (OK, '') if error is None else to_result(error)
        response.result.result = result
        response.result.error_message = text
    return response
