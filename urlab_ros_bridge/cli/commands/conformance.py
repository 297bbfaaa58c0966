# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab conformance`: check a server against the rules of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.ops import CONTROL_PORT
from urlab_ros_bridge.wire.ops import INFO_PORT
from urlab_ros_bridge.wire.ops import MODES
from urlab_ros_bridge.wire.ops import RPC_PORT
from urlab_ros_bridge.wire.ops import STATE_PORT

if TYPE_CHECKING:
    from urlab_ros_bridge.conformance import Check
    from urlab_ros_bridge.conformance import Peer
    from urlab_ros_bridge.conformance import Places
    from urlab_ros_bridge.conformance import Plan
    from urlab_ros_bridge.conformance import Result
    from urlab_ros_bridge.conformance.channels.zmq_raw import Protect

_PORT: dict[str, Any] = {'metavar': 'PORT', 'low': 0, 'high': LAST_PORT}


@dataclass(frozen=True, kw_only=True)
class ConformanceArguments(Arguments):
    """The arguments of `urlab conformance`."""

    endpoint: str = key(
        '', 'Server to test; default: the bundled one.', metavar='tcp://HOST[:PORT]',
        positional=True,
    )  # fmt: skip
    transport: str = key('both', 'Transport of the requests.', choices=('zmq', 'shm', 'both'))
    mode: str = key('all', 'Step modes to test.', choices=('live', 'direct', 'puppet', 'all'))
    only: str = key(
        '',
        'Run only checks with this name, glob pattern or prefix; comma-separated.',
        metavar='PATTERN',
        longest=4096,
    )
    list: bool = key(False, 'List the checks with their rules and sources; run none.')
    quick: bool = key(False, 'Skip checks that wait for seconds.')
    json: str = key(
        '',
        'Also write the results to this file, as JSON.',
        **PATH,
    )
    state_port: int = key(
        0,
        f'TCP port of the state stream. 0: as reported by the server, or else {STATE_PORT}.',
        **_PORT,
    )
    control_port: int = key(
        0,
        f'TCP port of the control stream. 0: as reported by the server, or else {CONTROL_PORT}.',
        **_PORT,
    )
    info_port: int = key(
        0,
        f'TCP port of the info stream. 0: as reported by the server, or else {INFO_PORT}.',
        **_PORT,
    )
    keys: str = key(
        '', 'Folder of keys (`urlab keys`), for a server started with --keys.', **FOLDER
    )


def make_plan(values: ConformanceArguments) -> Plan:
    """
    Return the checks to run.

    :raises BadArgument: when no check matches `--only`.
    """
    from urlab_ros_bridge.conformance import all_checks
    from urlab_ros_bridge.conformance import Plan
    from urlab_ros_bridge.conformance import select

    checks = select(all_checks(), [word for word in values.only.split(',') if word])
    if not checks:
        raise BadArgument('--only', f'{values.only!r} does not begin the name of any check')
    return Plan(
        tuple(checks),
        MODES if values.mode == 'all' else (values.mode,),
        ('zmq', 'shm') if values.transport == 'both' else (values.transport,),
        values.quick,
    )


def places(values: ConformanceArguments) -> Places:
    """Return the addresses of the given server."""
    from urlab_ros_bridge.conformance import Places
    from urlab_ros_bridge.conformance.channels.zmq_raw import host_and_port

    host, port = host_and_port(values.endpoint, RPC_PORT)

    def at(number: int) -> str | None:
        return f'tcp://{host}:{number}' if number else None

    ports = (values.state_port, values.control_port, values.info_port)
    return Places(host, f'tcp://{host}:{port}', *map(at, ports))


def protection(folder: str) -> Protect:
    """
    Return a function that applies the keys of a folder to sockets.

    :raises KeysUnusable: when keys are missing, damaged, or readable by others.
    """
    from urlab_ros_bridge.conformance.channels.zmq_raw import no_keys
    from urlab_ros_bridge.transport.keys import read_client_keys

    keys = read_client_keys(folder)
    return no_keys if keys is None else keys.protect


@contextmanager
def connected(values: ConformanceArguments) -> Iterator[Peer]:
    """Connect to the given server, or to a bundled one that runs in the meantime."""
    from urlab_ros_bridge.conformance import Peer
    from urlab_ros_bridge.conformance.local_server import local_server

    if values.endpoint:
        peer = Peer(places(values), protect=protection(values.keys))
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
    """Run the plan; print each result, and on a terminal the check that is running."""
    from rich.console import Console
    from rich.text import Text

    from urlab_ros_bridge.conformance import report
    from urlab_ros_bridge.conformance import run as run_checks

    console = Console(highlight=False)
    results: list[Result] = []
    with console.status('') as status:

        def show_progress(check: Check, number: int, total: int) -> None:
            status.update(Text(report.progress(check, number, total)))

        for result in run_checks(peer, plan, show_progress):
            results.append(result)
            row = report.row(result, console.is_terminal)
            console.print(Text.from_ansi(row), soft_wrap=True)
    print(report.summary(results))
    return results


def described(peer: Peer) -> dict[str, Any]:
    """Describe the server, for the JSON file."""
    known = ('urlab_version', 'mujoco_version', 'extensions')
    return {
        'endpoint': peer.places.rpc,
        **{name: peer.hello_reply.get(name) for name in known},
    }


def run(given: ParsedArguments[ConformanceArguments]) -> int:
    """Test the server; return 1 when a rule is broken."""
    from urlab_ros_bridge.conformance.report import as_json
    from urlab_ros_bridge.conformance.report import listing
    from urlab_ros_bridge.conformance.runner import FAIL

    values = given.values
    if values.keys and not values.endpoint:
        raise BadArgument('--keys', 'requires an address; the bundled server has no keys')
    plan = make_plan(values)
    if values.list:
        print(listing(plan.checks))
        return 0
    if values.json:  # before the minutes that the checks take
        Path(values.json).parent.mkdir(parents=True, exist_ok=True)
    with connected(values) as peer:
        tested = described(peer)
        print(f'{tested["endpoint"]}: {tested["urlab_version"]}', flush=True)
        results = run_and_print(peer, plan)
    if values.json:
        text = json.dumps(as_json(results, tested), indent=1)
        write_whole(Path(values.json), (text + '\n').encode())
    return int(any(result.outcome == FAIL for result in results))


COMMAND = Command(
    name='conformance',
    summary='Check a server against every rule of the protocol.',
    text='Check a server against every rule of the protocol, with one named check per rule, and\n'
    'print a table. Pass tcp://HOST[:PORT] to test a running server, Unreal or any other; it is\n'
    'reset repeatedly and left in live mode. Without an address, the bundled server is started\n'
    'and tested. Exit code 1 if a rule is broken.',
    section=ConformanceArguments,
    run=run,
    examples=(
        ('urlab conformance', 'the bundled server, over ZMQ and shared memory'),
        ('urlab conformance tcp://192.168.1.20', 'a server on another machine'),
        ('urlab conformance tcp://192.168.1.20 --keys laptop', 'a server that requires keys'),
        ('urlab conformance --only "step.*,reset" --mode direct', 'some checks'),
        ('urlab conformance --list', 'every rule with its source in the pages'),
    ),
)
