# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab server`: run the bundled step server until a signal comes."""

from __future__ import annotations

from dataclasses import dataclass
import gc
import logging
import os
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import Bind
from urlab_ros_bridge.cli.arguments.groups import DEFAULT_WORLD
from urlab_ros_bridge.cli.arguments.groups import ImportArguments
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import ServerPorts
from urlab_ros_bridge.cli.arguments.groups import Serving
from urlab_ros_bridge.cli.arguments.groups import WorldArguments
from urlab_ros_bridge.cli.logs import announce
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.cli.processes.table import STOP_SECONDS
from urlab_ros_bridge.cli.signals import handle_stop_signals
from urlab_ros_bridge.cli.signals import interrupt_within
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.wire.addresses import is_loopback

if TYPE_CHECKING:
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.server import Server


@dataclass(frozen=True, kw_only=True)
class EditorServerArguments(WorldArguments, ImportArguments, Bind, ServerPorts, Serving):
    """Editor."""

    editor: bool = key(
        False,
        'Also serve the ops of the editor: levels, actors, play. Without --world and --model, no '
        'world runs at first.',
    )

    def check(self) -> None:
        """Refuse names of robots together with the editor, where robots are built later."""
        for name in ('prefix', 'actor_id'):
            if self.editor and getattr(self, name):
                raise KeyProblem(
                    name, f'editor and {name} are mutually exclusive: give one of them'
                )


@dataclass(frozen=True, kw_only=True)
class ServerArguments(EditorServerArguments, LogLevel):
    """The arguments of `urlab server`."""


def server_config(given: ParsedArguments[ServerArguments]) -> ServerConfig:
    """Return the settings of the server."""
    from urlab_ros_bridge.sim.config import ServerConfig

    values = given.values
    world = values.world or DEFAULT_WORLD
    if values.editor and 'world' not in given.names:
        world = ''
    return ServerConfig(
        world=world,
        model=Path(values.model) if values.model else None,
        robot=values.robot or None,
        scene=Path(values.scene) if values.scene else None,
        pose=values.place(),
        prefix=values.prefix or None,
        actor_id=values.actor_id or None,
        bind=values.bind,
        keys=Path(values.keys) if values.keys else None,
        insecure=values.insecure,
        rpc_port=values.moved('rpc_port'),
        state_port=values.moved('state_port'),
        camera_port=values.moved('camera_port'),
        control_port=values.moved('control_port'),
        info_port=values.moved('info_port'),
        step_mode=values.step_mode,
        dialect=values.dialect,
        paused=values.paused,
        speed=values.speed / 100.0,
        data_dir=Path(values.data_dir) if values.data_dir else None,
        data_limit_gb=values.data_limit,
        allow_absolute_paths=values.allow_absolute_paths,
        shm=not values.no_shm,
        cameras=values.cameras,
        gl=values.gl,
        importing=values.import_options(),
    )


def make_server(config: ServerConfig, editor: bool) -> Server:
    """
    Create the server, with or without an editor; it is not started.

    :raises PackageMissing: when the physics engine is not installed.
    """
    require('server')
    from urlab_ros_bridge.sim.server import Server

    if not editor:
        return Server(config)
    from urlab_ros_bridge.editor.extension import extend

    return Server(config, [extend])


def serve(server: Server) -> None:
    """Start the server, print its addresses, and serve until a signal comes."""
    handle_stop_signals(interrupt_within(STOP_SECONDS))
    # A full garbage collection takes 40 ms, for which every client waits, and requests with many
    # maps and lists trigger it: exclude all that has been imported.
    gc.collect()
    gc.freeze()
    try:
        server.start()
        places = ' '.join(f'{name}={place}' for name, place in server.endpoints.items())
        announce(f'{READY_LINE}: {places}')
        while not server.wait(1.0):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


def run(given: ParsedArguments[ServerArguments]) -> int:
    """Serve until a signal comes."""
    logger = set_up_logging(given.values.log_level)
    check_ports(given.values, given.values.bind)
    config = server_config(given)
    if not (config.keys or is_loopback(config.bind)):
        logger.warning('--insecure: anyone who can reach %s can drive the simulation', config.bind)
    server = make_server(config, given.values.editor)
    serve(server)
    if server.compiling:
        # MuJoCo cannot be interrupted, and unloading it while a thread uses it crashes.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)
    return 0


COMMAND = Command(
    name='server',
    summary='Serve a MuJoCo world over the URLab protocol.',
    text='Serve a MuJoCo world over the URLab protocol: requests, state stream and cameras,\n'
    'each on its own port. Needs no ROS. Prints "urlab server ready" when clients can\n'
    'connect, and runs until Ctrl-C.',
    section=ServerArguments,
    run=run,
    handles_signals=True,
    examples=(
        ('urlab server', 'the rover world, in real time'),
        ('urlab server --world quadruped --paused', 'a walking robot, time paused'),
        (
            'urlab server --model my_robot.xml --step-mode direct',
            'your own MJCF, stepped on request',
        ),
        ('urlab server --model my_robot.urdf', 'your own URDF, on a floor'),
        ('urlab server --robot go2', 'a robot of MuJoCo Menagerie, by its name'),
        ('urlab server --port-offset 10', 'a second server on this machine'),
        ('urlab server --editor', 'no world: clients build levels and play them'),
        ('urlab server --bind 0.0.0.0 --keys my_keys', 'for other machines, with keys'),
        ('urlab server --rpc-port 0 --state-port 0 --camera-port 0', 'any free ports'),
    ),
)
