# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab conformance`: try every rule of the protocol on a server and print a table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import json
from pathlib import Path
import sys
from typing import Any

from urlab_ros_bridge.cli.commands import CONFORMANCE
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Check
from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import Result
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance import select
from urlab_ros_bridge.conformance.local_server import local_server
from urlab_ros_bridge.conformance.report import as_json
from urlab_ros_bridge.conformance.report import listing
from urlab_ros_bridge.conformance.report import progress
from urlab_ros_bridge.conformance.report import row
from urlab_ros_bridge.conformance.report import summary
from urlab_ros_bridge.conformance.runner import FAIL
from urlab_ros_bridge.conformance.zmq_raw import host_and_port
from urlab_ros_bridge.wire.ops import MODES
from urlab_ros_bridge.wire.ops import RPC_PORT

_CLEAR_LINE = '\r\x1b[K'


def make_plan(values: argparse.Namespace) -> Plan:
    """
    Return what to run.

    :raises BadArgument: when no check fits `--only`.
    """
    checks = select(all_checks(), [word for word in values.only.split(',') if word])
    if not checks:
        raise BadArgument('--only', values.only, 'the name or the beginning of any check')
    return Plan(
        tuple(checks),
        MODES if values.mode == 'all' else (values.mode,),
        ('zmq', 'shm') if values.transport == 'both' else (values.transport,),
        values.quick,
    )


def places(values: argparse.Namespace) -> Places:
    """Return where the server that was named listens."""
    host, port = host_and_port(values.endpoint, RPC_PORT)

    def at(number: int) -> str:
        return f'tcp://{host}:{number}'

    ports = (values.state_port, values.control_port, values.info_port)
    return Places(host, at(port), *map(at, ports))


@contextmanager
def connected(values: argparse.Namespace) -> Iterator[Peer]:
    """Connect to the server that was named, or start the bundled one for a while."""
    if values.endpoint:
        peer = Peer(places(values))
        try:
            peer.connect()
            yield peer
        finally:
            peer.close()
        return
    with local_server() as server:
        peer = Peer(server.places, stop=server.begin_stop)
        try:
            peer.connect()
            yield peer
        finally:
            peer.close()


def run_and_print(peer: Peer, plan: Plan) -> list[Result]:
    """Run the plan; print each result as it comes, and what is under way on a terminal."""
    terminal, results = sys.stdout.isatty(), []

    def started(check: Check, number: int, total: int) -> None:
        if terminal:
            print(f'{_CLEAR_LINE}{progress(check, number, total)}', end='', flush=True)

    for result in run(peer, plan, started):
        results.append(result)
        print(_CLEAR_LINE * terminal + row(result, terminal), flush=True)
    print(summary(results))
    return results


def described(peer: Peer) -> dict[str, Any]:
    """Return what was tested, for the JSON file."""
    known = ('urlab_version', 'mujoco_version', 'extensions')
    return {
        'endpoint': peer.places.rpc,
        **{name: peer.hello_reply.get(name) for name in known},
    }


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab conformance` with the words after its name; return 1 when a rule is broken."""
    parser = make_parser(CONFORMANCE)
    parser.add_argument('endpoint', nargs='?', default='', help='tcp://HOST[:PORT] of the server')
    values = parser.parse_args(argv)
    plan = make_plan(values)
    if values.list:
        print(listing(plan.checks))
        return 0
    with connected(values) as peer:
        tested = described(peer)
        print(f'{tested["endpoint"]}: {tested["urlab_version"]}', flush=True)
        results = run_and_print(peer, plan)
    if values.json:
        text = json.dumps(as_json(results, tested), indent=1)
        Path(values.json).write_text(text + '\n', encoding='utf-8')
    return int(any(result.outcome == FAIL for result in results))


if __name__ == '__main__':
    sys.exit(main())
