# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Plans of worlds: from the model of the handshake, or from what arrives on the wire."""

from __future__ import annotations

from collections.abc import Callable
import threading

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.from_model import plan_world
from urlab_ros_bridge.ros.plan.from_model import with_appearance
from urlab_ros_bridge.ros.plan.from_topics import plan_topics
from urlab_ros_bridge.ros.plan.plan import keep_namespaces
from urlab_ros_bridge.ros.plan.plan import WorldPlan

DISCOVERY_SECONDS = 1.5


class WorldPlanner:
    """Plans worlds for the link, in its thread."""

    def __init__(
        self,
        settings: SettingsReader,
        stream: StreamThread,
        stopped: threading.Event,
        log: Callable[[str, str], None],
    ) -> None:
        """
        Prepare.

        :param stopped: set when the bridge ends: nothing is planned to its end then.
        """
        self._settings = settings
        self._stream = stream
        self._stopped = stopped
        self._log = log

    def plan(self, handshake: Handshake, before: WorldPlan | None) -> WorldPlan:
        """
        Return the plan of a world; where its model cannot be read here, from its topics.

        :param before: that of the same run before the world changed: its robots keep their names.
        :raises UnknownName: when the parameter `robots` names one that is not there.
        """
        settings = self._settings
        try:
            plan = plan_world(handshake, settings)
            if before is not None:
                plan = keep_namespaces(plan, before)
            return plan if self._stopped.is_set() else with_appearance(plan, handshake, settings)
        except ModelUnavailable as error:
            note = f'sensor types and sensor frames are not available: {error}'
            self._log('warning', note)
            return plan_topics(self.discover(), settings, handshake, [note])

    def discover(self) -> dict[bytes, bytes]:
        """Subscribe to everything for a while; return the rows that arrive, by topic."""
        stream = self._stream
        stream.discovered.clear()
        stream.discover = True
        self._stopped.wait(DISCOVERY_SECONDS)
        stream.discover = False
        return dict(stream.discovered)
