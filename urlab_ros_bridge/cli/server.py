# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab server`: run the bundled step server until a signal comes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import signal
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments import DEFAULT_WORLD
from urlab_ros_bridge.cli.commands import SERVER
from urlab_ros_bridge.cli.errors import ConflictingArguments
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.errors import MujocoNotFound
from urlab_ros_bridge.cli.logs import is_loopback
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.cli.processes import READY_LINE
from urlab_ros_bridge.cli.processes import STOP_SECONDS

if TYPE_CHECKING:
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.server import Server


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; with --editor no world is the default."""
    values = make_parser(SERVER).parse_args(argv)
    if values.editor and not any(word.partition('=')[0] == '--world' for word in argv):
        values.world = ''
    return values


def server_config(values: argparse.Namespace) -> ServerConfig:
    """
    Return the server's settings from parsed arguments; an empty text means "not given".

    :raises ConflictingArguments: when a world and a model are asked for, or a robot is to be
        named in an editor.
    :raises FileMissing: when the model file is not there.
    :raises UnknownWorld: when the world is not one of the bundled.
    """
    from urlab_ros_bridge.models import world_path
    from urlab_ros_bridge.sim.config import ServerConfig

    _check(values)
    world = values.world or ('' if values.editor else DEFAULT_WORLD)
    if world and not values.model:
        world_path(world)
    return ServerConfig(
        world=world,
        model=Path(values.model) if values.model else None,
        prefix=values.prefix or None,
        actor_id=values.actor_id or None,
        bind=values.bind,
        rpc_port=values.rpc_port,
        state_port=values.state_port,
        camera_port=values.camera_port,
        control_port=values.control_port,
        info_port=values.info_port,
        step_mode=values.step_mode,
        paused=values.paused,
        data_dir=Path(values.data_dir) if values.data_dir else None,
        allow_absolute_paths=values.allow_absolute_paths,
        editor=values.editor,
        shm=not values.no_shm,
        cameras=values.cameras,
        gl=values.gl,
    )


def _check(values: argparse.Namespace) -> None:
    """Refuse arguments that exclude each other, and a model file that is not there."""
    if values.model:
        # The default world beside a model comes from launch, which passes every argument.
        if values.world not in ('', DEFAULT_WORLD):
            raise ConflictingArguments('--world', '--model')
        if not Path(values.model).is_file():
            raise FileMissing('--model', values.model)
    for name in ('prefix', 'actor_id'):
        if values.editor and getattr(values, name):
            raise ConflictingArguments('--editor', f'--{name.replace("_", "-")}')


def make_server(config: ServerConfig) -> Server:
    """
    Return the server, not yet started.

    :raises MujocoNotFound: when the physics engine is not installed.
    """
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MujocoNotFound(error) from None
    from urlab_ros_bridge.sim.server import Server

    return Server(config)


def _on_stop_signal(number: int, frame: object) -> None:
    # A shutdown that hangs must not outlive `urlab up`: the kernel ends it.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(STOP_SECONDS))
    # Ctrl-C in a terminal comes twice under launch: from the terminal and from launch itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(server: Server) -> None:
    """Start the server, say where it listens, and serve until a signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_stop_signal)
    try:
        server.start()
        places = ' '.join(f'{name}={place}' for name, place in server.endpoints.items())
        print(f'{READY_LINE}: {places}', flush=True)
        while not server.wait(1.0):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab server` with the words after its name; return the exit code."""
    values = parse(argv)
    logger = set_up_logging(values.log_level)
    config = server_config(values)
    if not is_loopback(config.bind):
        logger.warning(
            'listening on %s: whoever reaches this machine can drive the simulation, '
            'there is no password; --bind 127.0.0.1 keeps it to yourself',
            config.bind,
        )
    run(make_server(config))
    return 0


if __name__ == '__main__':
    sys.exit(main())
