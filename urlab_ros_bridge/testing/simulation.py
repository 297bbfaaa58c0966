# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation that a test starts and ends, and what a test does with it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from contextlib import ExitStack
import json
import os
from pathlib import Path
import re
import select
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from types import MappingProxyType
from typing import Any
from typing import Self
from typing import TYPE_CHECKING

import numpy as np
import yaml

from urlab_ros_bridge.cli.processes.table import environment
from urlab_ros_bridge.cli.processes.table import MAIN
from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.testing.domains import take_domain
from urlab_ros_bridge.testing.errors import NoBridge
from urlab_ros_bridge.testing.errors import NoRos
from urlab_ros_bridge.testing.errors import SimulationFailed
from urlab_ros_bridge.testing.motion import assert_moved
from urlab_ros_bridge.testing.motion import step_until
from urlab_ros_bridge.testing.motion import WALL_SECONDS
from urlab_ros_bridge.testing.processes import end_process
from urlab_ros_bridge.testing.processes import start_process
from urlab_ros_bridge.testing.processes import tie_worker
from urlab_ros_bridge.wire.errors import UnknownName

if TYPE_CHECKING:
    from rclpy.node import Node

    from urlab_ros_bridge.testing.fake_server import FakeServer
    from urlab_ros_bridge.testing.ros_node import SpunNode

BRIDGE = 'urlab_ros_bridge.ros.program.main'
PORTS = ('rpc', 'state', 'camera', 'control', 'info')
_POLL_SECONDS = 0.02


class SimulationAccess:
    """
    A running simulation as tests use it; `Simulation` also starts one.

    :ivar ports: TCP ports of ``rpc``, ``state`` and the other streams.
    :ivar domain: its ROS domain, None without a bridge.
    """

    def __init__(self, ports: Mapping[str, int], domain: int | None) -> None:
        self.ports = dict(ports)
        self.domain = domain
        self._client: Client | None = None
        self._spun: SpunNode | None = None
        self._started: list[subprocess.Popen[Any]] = []

    @property
    def client(self) -> Client:
        """Return a typed client with a shared session, connected at the first use."""
        if self._client is None:
            client = Client('127.0.0.1', self.ports['rpc'], shared=True)
            client.connect(WALL_SECONDS)
            self._client = client
        return self._client

    @property
    def node(self) -> Node:
        """
        Return a node in the simulation's domain, with simulation time, spun in a thread.

        :raises NoRos: without ROS.
        """
        if self._spun is None:
            try:
                from urlab_ros_bridge.testing.ros_node import SpunNode
            except ImportError as error:
                raise NoRos(error) from None
            self._spun = SpunNode(self.domain)
        return self._spun.node

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which other programs find this simulation."""
        found = {**os.environ, **environment()}
        if self.domain is not None:
            found |= {'ROS_DOMAIN_ID': str(self.domain)}
            found.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        return found

    def start_program(self, *words: object, **options: Any) -> subprocess.Popen[Any]:
        """
        Start a program of yours, such as a node, where it finds this simulation.

        It is interrupted when the simulation is let go of, and ends when the test run is killed.

        :param options: of `subprocess.Popen`.
        """
        environ = {**self.environment, **options.pop('env', {})}
        program = start_process(words, env=environ, **options)
        self._started.append(program)
        return program

    def wait_for_message(
        self, message_type: type, topic: str, timeout: float = 10.0, *more: Any, **options: Any
    ) -> Any:
        """
        Wait for a message on `node`; see `testing.wait_for_message`.

        :raises NoBridge: at once, without a bridge.
        :raises SimulationFailed: as soon as server or bridge have ended by themselves; after
            `kill` it keeps waiting, because nodes of yours may publish.
        """
        if self.domain is None:
            raise NoBridge(topic)
        node = self.node
        from urlab_ros_bridge.testing.ros_messages import wait_for_message

        options.setdefault('check', self._check_for_crashes)
        return wait_for_message(node, message_type, topic, timeout, *more, **options)

    def step_until(
        self, condition: Callable[[StepResult], object], timeout: float, **options: Any
    ) -> StepResult:
        """Step `client` until a condition is true; see `testing.step_until`."""
        return step_until(self.client, condition, timeout, **options)

    def run_for(self, seconds: float) -> StepResult:
        """Let simulation time pass: by steps in direct mode, by waiting in live mode."""
        end = self.client.forward().time + seconds - 1e-9
        return step_until(
            self.client,
            lambda state: state.time >= end,
            seconds + 1.0,
            observations='minimal',
            wall_timeout=WALL_SECONDS + 10.0 * seconds,
        )

    def position(self, name: str) -> np.ndarray:
        """
        Return where a robot or an entity is: x, y, z in the world (m), shape (3,).

        :raises UnknownBody: for a name that is not there; the message lists those that are.
        """
        return self.client.get_entities([name])[name].pos

    @contextmanager
    def assert_moved(
        self,
        name: str,
        at_least: float,
        at_most: float = float('inf'),
        along: Sequence[float] | None = None,
    ) -> Iterator[None]:
        """Demand that a robot or an entity moves in the block; see `testing.assert_moved`."""
        start = self.position(name)
        yield
        assert_moved(start, self.position(name), at_least, at_most, along)

    def _check_for_crashes(self) -> None:
        """Demand that no program has ended by itself, where that can be known."""

    def close(self) -> None:
        """Let go of the simulation; programs that were started here are ended."""
        for program in reversed(self._started):
            end_process(program)
        self._started.clear()
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._spun is not None:
            self._spun.close()
            self._spun = None


class Simulation(SimulationAccess):
    """
    A headless server, and a bridge to it, on free ports and a free ROS domain.

    Both are processes of their own.  They end with the block, and also when the test run is
    killed.
    """

    def __init__(
        self,
        world: str | os.PathLike[str] = 'rover',
        *,
        sidecar: Mapping[str, Any] | None = None,
        server: FakeServer | None = None,
        bridge: Mapping[str, Any] | None = MappingProxyType({}),
        mode: str = 'live',
        cameras: bool = False,
        namespace: str = '',
        domain: int | None = None,
        server_words: Sequence[str] = (),
        wall_timeout: float = WALL_SECONDS,
    ) -> None:
        """
        Start, and wait until robots can be driven.

        :param world: bundled world, or an MJCF file or sidecar of yours (.xml, .yaml).
        :param sidecar: in place of a file: its keys (docs/sidecar.md); files are named in full.
        :param server: a fake server that runs already, in place of a world.
        :param bridge: parameters of the bridge (docs/parameters.md); None: no bridge, no ROS.
        :param mode: live: time goes by itself; direct: by steps alone; puppet. With a bridge
            direct and puppet cannot be left.
        :param cameras: draw images; else there are none.
        :param namespace: of the bridge.
        :param domain: ROS domain that you have taken; None: a free one.
        :param server_words: more for the command line of `urlab server`.
        :param wall_timeout: s of wall time for the start of each program.
        :raises SimulationFailed: when a program does not come up, with what it printed.
        :raises NoRos: when a bridge is wanted and ROS is not there.
        :raises BadParameter: for a parameter that the bridge does not have, with the nearest one.
        """
        tie_worker()
        self._wall_timeout = wall_timeout
        self._programs: list[_Program] = []
        self._held = ExitStack()
        super().__init__({}, None)
        try:
            folder = Path(self._held.enter_context(TemporaryDirectory(prefix='urlab-test-')))
            if bridge is not None:
                _require_ros()
                _check_names(bridge)
                self.domain = self._take_domain() if domain is None else domain
            if server is not None:
                self.ports = dict(server.ports)
            else:
                # A server that is started in a mode cannot be put into another one.
                pinned = mode if bridge is not None and mode != 'live' else 'auto'
                words = [*_world_words(world, sidecar, folder), '--step-mode', pinned]
                words += [] if cameras else ['--cameras', 'off']
                self._start_server([*words, *server_words], folder)
            if bridge is not None:
                self._start_bridge(bridge, namespace, folder)
            elif server is None:
                self._enter_mode(mode)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def output(self) -> str:
        """What server and bridge have printed so far."""
        return ''.join(f'--- {each.name}\n{each.output}' for each in self._programs)

    def check(self) -> None:
        """
        Demand that server and bridge run.

        :raises SimulationFailed: when one has ended.
        """
        for program in self._programs:
            program.check()

    def _check_for_crashes(self) -> None:
        for program in self._programs:
            if not program.killed:
                program.check()

    def kill(self, program: str) -> None:
        """End the ``server`` or the ``bridge`` without warning, as a crash does."""
        names = [each.name for each in self._programs]
        if program not in names:
            raise UnknownName('program', program, names)
        self._programs[names.index(program)].kill()

    def close(self) -> None:
        """End everything; what the programs printed goes to the output of the test."""
        super().close()
        for program in reversed(self._programs):
            program.end()
        if 'PYTEST_CURRENT_TEST' in os.environ:
            print(self.output)
        self._programs.clear()
        self._held.close()

    def _take_domain(self) -> int:
        return self._held.enter_context(take_domain()).number

    def _enter_mode(self, mode: str) -> None:
        self.client.set_mode(mode)
        if mode != 'live':  # time went by itself until now
            self.client.reset()

    def _start_server(self, words: Sequence[str], folder: Path) -> None:
        places = [word for name in PORTS for word in (f'--{name}-port', '0')]
        places += ['--data-dir', str(folder / 'data')]
        program = _Program('server', [MAIN, 'server', *places, *words], self.environment, folder)
        self._programs.append(program)

        def ready() -> str:
            found = re.search(rf'^{READY_LINE}.*\n', program.output, re.MULTILINE)
            return found.group() if found else ''

        line = program.wait_for(ready, self._wall_timeout)
        self.ports = {
            name: int(port) for name, port in re.findall(r'(\w+)=tcp://\S+?:(\d+)', line)
        }

    def _start_bridge(self, parameters: Mapping[str, Any], namespace: str, folder: Path) -> None:
        values = {
            # A refusal takes a second of discovery, and there are no other nodes here.
            'second_bridge': 'warn',
            **parameters,
            'rpc_port': self.ports['rpc'],
            'state_port': self.ports['state'],
        }
        file = folder / 'bridge.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}), encoding='utf-8')
        words = ['--ros-args', '--params-file', str(file)]
        words += ['-r', f'__ns:=/{namespace.strip("/")}'] if namespace.strip('/') else []
        environ = {'ROS_LOG_DIR': str(folder / 'ros_log'), **self.environment}
        reader, writer = os.pipe()
        with open(reader, encoding='utf-8') as status:
            try:
                program = _Program(
                    'bridge', [BRIDGE, f'--status-fd={writer}', *words], environ, folder, writer
                )
            finally:
                os.close(writer)
            self._programs.append(program)

            def connected() -> bool:
                if not select.select([status], [], [], 0)[0]:
                    return False
                line = status.readline()
                return bool(line) and bool(json.loads(line)['connected'])

            program.wait_for(connected, self._wall_timeout)


class _Program:
    """
    A process whose output goes to a file.

    :ivar killed: whether the test has ended it on purpose.
    """

    def __init__(
        self, name: str, words: Sequence[str], environ: Mapping[str, str], folder: Path, *fds: int
    ) -> None:
        self.name, self.killed = name, False
        self._file = folder / f'{name}.log'
        with self._file.open('wb') as output:
            self._process = start_process(
                [sys.executable, '-m', *words],
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=fds,
            )

    @property
    def output(self) -> str:
        return self._file.read_text(encoding='utf-8', errors='replace')

    def wait_for(self, condition: Callable[[], Any], seconds: float) -> Any:
        end = time.monotonic() + seconds
        while not (value := condition()):
            self.check()
            if time.monotonic() > end:
                raise SimulationFailed(
                    self.name, f'was not ready within {seconds:g} s', self.output
                )
            time.sleep(_POLL_SECONDS)
        return value

    def check(self) -> None:
        code = self._process.poll()
        if code is not None:
            raise SimulationFailed(self.name, f'exited with code {code}', self.output)

    def kill(self) -> None:
        self.killed = True
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        end_process(self._process)


def _world_words(
    world: str | os.PathLike[str], sidecar: Mapping[str, Any] | None, folder: Path
) -> list[str]:
    if sidecar is not None:
        file = folder / 'world.yaml'
        file.write_text(yaml.safe_dump(dict(sidecar)), encoding='utf-8')
        return ['--model', str(file)]
    path = Path(world)
    is_file = path.suffix in ('.xml', '.yaml', '.yml') or len(path.parts) > 1
    return ['--model', str(path.absolute())] if is_file else ['--world', str(world)]


def _require_ros() -> None:
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise NoRos(error) from None


def _check_names(parameters: Mapping[str, Any]) -> None:
    if not parameters:
        return  # reading what there is takes half a second
    from urlab_ros_bridge.ros.parameters.params import BadParameter
    from urlab_ros_bridge.ros.parameters.params import unknown_names
    from urlab_ros_bridge.ros.parameters.settings import settings_type
    from urlab_ros_bridge.ros.program.features import installed_features

    # The bridge itself only warns, and a warning in a passing test stays unread.
    if texts := unknown_names(parameters, settings_type(installed_features())):
        raise BadParameter(texts)


__all__ = ['Simulation', 'SimulationAccess']
