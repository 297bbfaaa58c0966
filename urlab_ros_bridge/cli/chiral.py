# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab chiral`: serve a robot to policies until a signal comes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
import signal
import sys
import threading
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.commands import CHIRAL
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.cli.logs import is_loopback
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.cli.ports import connect_address
from urlab_ros_bridge.cli.processes import STOP_SECONDS

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.chiral.server import ChiralServer

# Begins the line that is printed on stdout when a policy may connect.
READY_LINE = 'urlab chiral ready'


def make_gateway(values: argparse.Namespace) -> ChiralServer:
    """
    Return the gateway of parsed arguments, not yet started.

    :raises PackageMissing: when websockets is not installed.
    :raises FileMissing: when the profile is not there.
    :raises ProfileError: when it is wrong.
    """
    try:
        from urlab_ros_bridge.gateways.chiral.server import ChiralServer
        from urlab_ros_bridge.gateways.chiral.server import GatewayConfig
    except ImportError as error:
        raise PackageMissing('the Chiral gateway', 'chiral', error) from None
    from urlab_ros_bridge.gateways.chiral.profile import load_profile
    from urlab_ros_bridge.gateways.chiral.profile import Profile

    if values.profile and not Path(values.profile).is_file():
        raise FileMissing('--profile', values.profile)
    profile = load_profile(values.profile) if values.profile else Profile()
    if values.pace != 'profile':
        profile = replace(profile, pace=values.pace)
    return ChiralServer(
        GatewayConfig(
            profile,
            host=connect_address(values.host),
            rpc_port=values.rpc_port,
            bind=values.bind,
            port=values.port,
            token=values.token,
            viewers=values.viewers,
            legacy=values.legacy,
        )
    )


def _on_stop_signal(number: int, frame: object) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(STOP_SECONDS))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(gateway: ChiralServer, timeout: float) -> None:
    """Start the gateway, say what it serves, and go on until a signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_stop_signal)
    started = False
    try:
        gateway.start(timeout)
        started = True
        said = gateway.metadata()
        print(
            f'{READY_LINE}: {gateway.url} robot={said["robot"]} pace={said["pace"]} '
            f'cameras={",".join(said["cameras"]) or "none"} action={said["action_layout"]}',
            flush=True,
        )
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        if started:
            gateway.stop()


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab chiral` with the words after its name; return the exit code."""
    values = make_parser(CHIRAL).parse_args(argv)
    logger = set_up_logging(values.log_level)
    if not is_loopback(values.bind) and not values.token:
        logger.warning(
            'listening on %s without a token: whoever reaches this machine can drive the robot; '
            'give --token, or --bind 127.0.0.1',
            values.bind,
        )
    run(make_gateway(values), values.timeout)
    return 0


if __name__ == '__main__':
    sys.exit(main())
