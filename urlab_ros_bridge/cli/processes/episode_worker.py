# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A worker of `urlab eval --workers`: a simulation of its own, and the episodes that it is given.

It reads the numbers of episodes from its standard input, one a line, and writes a line of JSON to
the descriptor `--report-fd` for each: ``{"done": 7}`` when the result is on the disk, or
``{"failed": 7, "why": ...}``.  Server, gateway and policy live in this one process: an episode in
lockstep goes from one to the other and back, so more processes would only wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace
import json
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

from urlab_ros_bridge.gateways.chiral.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import Digest
from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import EpisodeFiles
from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import Purpose
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Evaluation
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import load_policy
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Log
from urlab_ros_bridge.gateways.chiral.profile import find_profile
from urlab_ros_bridge.gateways.chiral.profile import load_profile
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralConfig
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.wire.errors import UrlabError

PORTS = ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port')


@dataclass(frozen=True)
class Assignment:
    """
    What a worker needs to know, as JSON on its command line.

    :ivar record: folder for MCAP files, empty for none.
    """

    folder: str
    purpose: dict[str, Any]
    record: str = ''
    timeout: float = 30.0


@contextmanager
def simulated(purpose: Purpose, timeout: float) -> Iterator[ChiralClient]:
    """
    Run a simulation in lockstep and a gateway in this process; yield a client.

    :raises UrlabError: when one of them cannot start.
    """
    from urlab_ros_bridge.sim.server import Server  # who starts workers does without MuJoCo

    profile = load_profile(find_profile(purpose.profile)) if purpose.profile else Profile()
    with TemporaryDirectory(prefix='urlab-eval-') as folder:
        config = ServerConfig(
            data_dir=Path(folder),
            cameras='off' if profile.cameras == [] else 'auto',
            **dict.fromkeys(PORTS, 0),  # type: ignore[arg-type]
        )
        if purpose.world_digest:
            config = replace(config, model=Path(purpose.world))
        else:
            config = replace(config, world=purpose.world)
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


def work(assignment: Assignment, report: int) -> None:
    """
    Run episodes until the standard input ends.

    :param report: file descriptor for the reports.
    """

    def tell(**values: object) -> None:
        os.write(report, json.dumps(values).encode() + b'\n')

    purpose = Purpose(**assignment.purpose)
    files = EpisodeFiles(Path(assignment.folder), purpose)
    policy = load_policy(purpose.policy)
    with simulated(purpose, assignment.timeout) as client:
        evaluation = Evaluation(client, policy, purpose.max_steps)
        tell(ready=True)
        for line in sys.stdin:
            index = int(line)
            digest = Digest()
            with _recording(assignment.record, index) as logs:
                try:
                    result = evaluation.run(purpose.first_seed + index, [digest, *logs])
                except (UrlabError, OSError) as error:
                    tell(failed=index, why=str(error))
                    return
            files.add(index, result, digest.text)
            tell(done=index)


@contextmanager
def _recording(folder: str, index: int) -> Iterator[list[Log]]:
    """Yield the log of an episode; its file gets its name only when the episode is whole."""
    if not folder:
        yield []
        return
    from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import EpisodeLog

    path = Path(folder) / f'episode_{index:04d}.mcap'
    part = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        yield [EpisodeLog(part)]
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def main(argv: list[str]) -> int:
    """
    Work; the policy is looked for where the user stands.

    :param argv: the assignment as JSON, and the descriptor of the reports.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        work(Assignment(**json.loads(argv[0])), int(argv[1]))
    except UrlabError as error:
        print(f'urlab eval worker: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
