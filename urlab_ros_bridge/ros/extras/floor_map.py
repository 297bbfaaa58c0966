# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""map: the occupancy grid of the world, from its geometry."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
import threading
from typing import TYPE_CHECKING

from nav_msgs.msg import OccupancyGrid

from urlab_ros_bridge.client.model import read_robot
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.maps.height_choice import height_problem
from urlab_ros_bridge.maps.height_choice import ROBOT
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.schema import key

if TYPE_CHECKING:
    from urlab_ros_bridge.maps.floor_map import FloorMap

_STOP_SECONDS = 2.0


@dataclass(frozen=True)
class MapParameters:
    """Whether and how the map is drawn."""

    publish_map: bool = key(
        False,
        'Publish map, the occupancy grid of the world, once and after each change of the world: '
        'Nav2 needs no map file then. Robots and movable objects are left out.',
    )
    map_height: str = key(
        ROBOT,
        'Obstacles in map: "robot" for all that the first robot would collide with in its initial '
        'pose, "scanner" for those at the height of its scanner, a height (m), or a range of '
        'heights ("0.1:0.6"). "auto" is scanner for a robot that has one, else robot.',
        check=height_problem,
    )
    map_resolution: float = key(0.05, 'Cell size of map (m).', low=0.005, high=1.0)


class MapTopic(Part):
    """Draws the map of each world in a thread of its own; the stream thread publishes it."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._newest: Handshake | None = None
        self._thread = threading.Thread()

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Draw the map of the world, if it is enabled."""
        self._newest = handshake
        if handshake is not None and self._bridge.settings(MapParameters).publish_map:
            self._bridge.once_topics.make(MAP, None)  # to be found while it is drawn
            self._thread = threading.Thread(
                target=self._draw_and_publish, args=(handshake,), name='map', daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stop publishing."""
        self._newest = None
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def _draw_and_publish(self, handshake: Handshake) -> None:
        with self._bridge.errors.caught(FEATURE.name):
            message = self._message(self._draw(handshake))
            if self._newest is handshake:
                self._bridge.once(MAP, message)

    def _draw(self, handshake: Handshake) -> FloorMap:
        local = LocalModel(handshake)
        from urlab_ros_bridge.maps.floor_map import draw_floor_map
        from urlab_ros_bridge.maps.floor_map import MappedWorld
        from urlab_ros_bridge.maps.map_heights import chosen_heights
        from urlab_ros_bridge.maps.map_heights import planes

        if len(handshake.start_qpos) == local.model.nq:
            local.data.qpos[:] = handshake.start_qpos
            local.kinematics()
        robots = handshake.articulations
        world = MappedWorld(
            local.model,
            local.data,
            [read_robot(handshake, prefix) for prefix in robots],
            {prefix: tuple(robot.lidars) for prefix, robot in robots.items()},
        )
        settings = self._bridge.settings(MapParameters)
        heights = planes(*chosen_heights(world, settings.map_height))
        return draw_floor_map(world, heights, settings.map_resolution)

    def _message(self, drawn: FloorMap) -> OccupancyGrid:
        frame = self._bridge.settings(NamesParameters).map_frame
        message = OccupancyGrid(header=header_to_ros(self._bridge.timeline.stamp_ns or 0, frame))
        info = message.info
        info.map_load_time = message.header.stamp
        info.resolution = drawn.resolution
        info.height, info.width = drawn.cells.shape
        info.origin.position.x, info.origin.position.y = drawn.origin
        message.data = array('b', drawn.cells.tobytes())
        return message


MAP = Topic(
    'map',
    ('nav_msgs/msg/OccupancyGrid',),
    'latched',
    when='worlds with solid scenery',
    timing='once',
    switch='publish_map',
)
FEATURE = Feature('map', MapParameters, group='What is published', topics=(MAP,), attach=MapTopic)
