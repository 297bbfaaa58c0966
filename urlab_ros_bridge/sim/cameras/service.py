# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a world as a part of the server: sockets and supervision around a rig."""

from __future__ import annotations

import logging

from urlab_ros_bridge.sim.cameras.link.messages import port_of
from urlab_ros_bridge.sim.cameras.listeners import endpoint_of
from urlab_ros_bridge.sim.cameras.listeners import MAX_PORTS
from urlab_ros_bridge.sim.cameras.listeners import open_listeners
from urlab_ros_bridge.sim.cameras.renderer import gl
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.cameras.supervisor import RendererSupervisor
from urlab_ros_bridge.sim.config import ServerConfig

_LOG = logging.getLogger(__name__)


class CameraPart:
    """Runs the cameras of one world; see `stage.WorldPart`."""

    def __init__(self, config: ServerConfig, rig: CameraRig) -> None:
        """
        Listen for subscribers, unless there is nothing to show or no way to.

        :raises SocketInUse: when there are no free ports.
        """
        self._rig = rig
        self._supervisor: RendererSupervisor | None = None
        if not rig.items:
            return
        if config.cameras == 'off':
            rig.turn_off('cameras are off: the server was started with --cameras off')
            return
        backends = gl.candidates(config.gl)
        if all(gl.missing_library(name) for name in backends):
            error = gl.NoGraphics({name: gl.missing_library(name) for name in backends})
            _LOG.error('%s', error)
            rig.turn_off(str(error))
            return
        listeners = open_listeners(config, min(len(rig.items), MAX_PORTS))
        rig.endpoints = [
            endpoint_of(listeners[port_of(item.index, len(listeners))]) for item in rig.items
        ]
        rig.off = ''
        self._supervisor = rig.renderer = RendererSupervisor(rig, listeners, backends, config.keys)
        # After the publishers that are there already: rows do not wait for pictures.
        rig.engine.hooks.state.append(rig.publish)
        self._supervisor.start()
        if config.cameras == 'on':
            self._supervisor.need()

    def close(self) -> None:
        """End the renderer and close the ports."""
        if self._supervisor is not None:
            self._supervisor.close()
            # They hold each other, and the rig holds the world.
            self._supervisor = self._rig.renderer = None


__all__ = ['CameraPart']
