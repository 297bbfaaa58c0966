# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A worker of `urlab eval --workers`: a simulation of its own, and the episodes assigned to it.

It reads the numbers of episodes from its standard input, one a line, and writes a line of JSON to
the descriptor `--report-fd` for each: ``{"done": {"index": 7, ...}}`` with the result, or
``{"failed": 7, "why": ...}``.  Server, gateway and policy live in this one process: an episode in
lockstep goes from one to the other and back, so more processes would only wait for each other.

Workers of Ray (`episode_cluster`) run episodes by the same `EpisodeRunner`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import replace
import json
import os
from pathlib import Path
import platform
import signal
import sys
from tempfile import TemporaryDirectory
from typing import Any
from typing import Self

from urlab_ros_bridge.evaluation.episode_files import Digest
from urlab_ros_bridge.evaluation.episode_files import EpisodeRow
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episodes import Evaluation
from urlab_ros_bridge.evaluation.episodes import load_policy
from urlab_ros_bridge.evaluation.episodes import Log
from urlab_ros_bridge.gateways.chiral.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.profile import find_profile
from urlab_ros_bridge.gateways.chiral.profile import load_profile
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralConfig
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.wire.errors import UrlabError

# Workers share the processors, and sums of matrices have other bits with other numbers of threads.
ONE_THREAD = dict.fromkeys(('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'), '1')
# Beginning of the name of a file by which a worker elsewhere knows the folder of recordings.
MARK = '.shared-'
STOP_SECONDS = 10
PORTS = ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port')


@dataclass(frozen=True)
class Assignment:
    """
    What a worker needs to know, as JSON on its command line.

    :ivar record: folder for MCAP files, empty for none.
    """

    settings: dict[str, Any]
    record: str = ''
    timeout: float = 30.0


@contextmanager
def simulated(settings: RunSettings, timeout: float) -> Iterator[ChiralClient]:
    """
    Run a simulation in lockstep and a gateway in this process; yield a client.

    :raises UrlabError: when one of them cannot start.
    """
    from urlab_ros_bridge.sim.server import (
        Server,
    )  # the process that starts workers needs no MuJoCo

    profile = load_profile(find_profile(settings.profile)) if settings.profile else Profile()
    with TemporaryDirectory(prefix='urlab-eval-') as folder:
        config = ServerConfig(
            data_dir=Path(folder),
            cameras='off' if profile.cameras == [] else 'auto',
            **dict.fromkeys(PORTS, 0),  # type: ignore[arg-type]
        )
        if settings.world_digest:
            config = replace(config, model=Path(settings.world))
        else:
            config = replace(config, world=settings.world)
        server = Server(config)
        server.start()
        try:
            port = int(server.endpoints['rpc'].rpartition(':')[2])
            gateway = ChiralServer(
                ChiralConfig(replace(profile, pace='lockstep'), rpc_port=port, port=0)
            )
            gateway.start(timeout)
            try:
                with ChiralClient(
                    gateway.url, timeout=timeout, reset_timeout=4 * timeout
                ) as client:
                    yield client
            finally:
                gateway.stop()
        finally:
            server.stop()


class EpisodeRunner:
    """A simulation with a policy, ready for episodes; ends with `close`, or used as a context."""

    def __init__(self, assignment: Assignment) -> None:
        """
        Start the simulation.

        :raises UrlabError: when it, or the policy, cannot start.
        """
        self._settings = settings = RunSettings(**assignment.settings)
        self._record = assignment.record
        self._held = ExitStack()
        try:
            policy = load_policy(settings.policy)
            client = self._held.enter_context(simulated(settings, assignment.timeout))
            self._evaluation = Evaluation(client, policy, settings.max_steps)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, index: int) -> EpisodeRow:
        """
        Run an episode; its recording is complete when this returns.

        :raises UrlabError, OSError: when it fails before its end.
        """
        digest = Digest()
        with _recording(self._record, index) as logs:
            result = self._evaluation.run(self._settings.first_seed + index, [digest, *logs])
        return EpisodeRow(index, digest.text, result)

    def close(self) -> None:
        """End the simulation."""
        self._held.close()


def work(assignment: Assignment, report: int) -> None:
    """
    Run episodes until the standard input ends.

    :param report: file descriptor for the reports.
    """

    def send(**values: object) -> None:
        os.write(report, json.dumps(values).encode() + b'\n')

    with EpisodeRunner(assignment) as runner:
        send(ready=True)
        for line in sys.stdin:
            index = int(line)
            try:
                row = runner.run(index)
            except (UrlabError, OSError) as error:
                send(failed=index, why=str(error))
                return
            send(done=row.values())


def recording_of(folder: Path, index: int) -> Path:
    """Return the recording file of an episode."""
    return folder / f'episode_{index:04d}.mcap'


def remove_unfinished(folder: Path) -> None:
    """Remove leftovers of killed workers: incomplete recordings and markers."""
    for pattern in ('.episode_*.mcap.*', f'{MARK}*'):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


@contextmanager
def _recording(folder: str, index: int) -> Iterator[list[Log]]:
    """Yield the log of an episode; its file is renamed once the episode is complete."""
    if not folder:
        yield []
        return
    from urlab_ros_bridge.evaluation.episode_log import EpisodeLog

    path = recording_of(Path(folder), index)
    # Two machines may run the same episode if a cluster has given up one of them too early.
    part = path.with_name(f'.{path.name}.{platform.node()}.{os.getpid()}')
    try:
        yield [EpisodeLog(part)]
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def stop(number: int, frame: object) -> None:
    """Stop the simulation on a signal; the kernel ends this process if that takes long."""
    signal.alarm(STOP_SECONDS)
    raise SystemExit(128 + number)


def main(argv: list[str]) -> int:
    """
    Run episodes of a policy that is found in the working folder.

    :param argv: the assignment as JSON, and the descriptor of the reports.
    """
    signal.signal(signal.SIGTERM, stop)
    sys.path.insert(0, str(Path.cwd()))
    try:
        work(Assignment(**json.loads(argv[0])), int(argv[1]))
    except UrlabError as error:
        print(f'urlab eval worker: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
