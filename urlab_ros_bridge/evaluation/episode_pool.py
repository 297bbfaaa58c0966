# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Workers that run episodes in parallel; one that dies is replaced, and its episode runs again."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import json
import os
import selectors
import subprocess
import sys
from typing import Any

from urlab_ros_bridge.evaluation.episode_files import EpisodeRow
from urlab_ros_bridge.evaluation.episode_worker import Assignment
from urlab_ros_bridge.evaluation.episode_worker import ONE_THREAD
from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.wire.errors import UrlabError

WORKER = 'urlab_ros_bridge.evaluation.episode_worker'
# The evaluation ends when this many workers have died in one episode.
MAX_DEATHS = 3
_STOP_SECONDS = 10.0


class WorkerFailed(UrlabError):
    """An episode cannot be run."""


@dataclass
class _EpisodeWorker:
    """
    One process.

    :ivar episode: that it runs, None while it starts or is idle.
    """

    process: subprocess.Popen[bytes]
    report: int
    episode: int | None = None
    ready: bool = False
    unread: bytes = field(default=b'', repr=False)


class EpisodePool:
    """
    Runs episodes in child processes, which end with this process even if it is killed.

    Used as a context.
    """

    def __init__(self, assignment: Assignment, workers: int) -> None:
        """
        Start nothing yet.

        :param workers: how many at the same time.
        """
        self._assignment = json.dumps(asdict(assignment))
        self._count = workers
        self._workers: list[_EpisodeWorker] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> EpisodePool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            assert worker.process.stdin is not None  # it is a pipe
            worker.process.stdin.close()
            worker.process.terminate()
        for worker in self._workers:
            try:
                worker.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            os.close(worker.report)
        self._workers.clear()
        self._selector.close()

    def run(self, episodes: Iterable[int]) -> Iterator[EpisodeRow]:
        """
        Run episodes, and yield each as soon as it has ended.

        :raises WorkerFailed: when one fails, or kills its workers again and again.
        """
        waiting, deaths = list(reversed(list(episodes))), dict[int, int]()
        left = len(waiting)
        for _ in range(min(self._count, left)):
            self._start()
        while left:
            ended: list[EpisodeRow] = []
            failed: dict[str, Any] = {}
            for key, _ in self._selector.select():
                worker = key.data
                for message in self._receive(worker):
                    if 'failed' in message:
                        failed = message
                        continue
                    worker.ready = True
                    if 'done' in message:
                        worker.episode = None
                        left -= 1
                        ended.append(EpisodeRow.of(message['done']))
                if worker.process.poll() is not None and not failed:
                    self._replace(worker, waiting, deaths)
            for (
                worker
            ) in self._workers:  # first, so that no worker waits while results are written
                if waiting and worker.ready and worker.episode is None and not failed:
                    self._hand_out(worker, waiting.pop())
            yield from ended
            if failed:
                raise WorkerFailed(f'episode {failed["failed"]} failed: {failed["why"]}')

    def _start(self) -> None:
        reader, writer = os.pipe()
        command = tied([sys.executable, '-m', WORKER, self._assignment, str(writer)])
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=2,
            pass_fds=(writer,),
            process_group=0,
            env={**ONE_THREAD, **os.environ},
        )
        os.close(writer)
        worker = _EpisodeWorker(process, reader)
        self._workers.append(worker)
        self._selector.register(reader, selectors.EVENT_READ, worker)

    def _hand_out(self, worker: _EpisodeWorker, episode: int) -> None:
        worker.episode = episode
        assert worker.process.stdin is not None  # it is a pipe
        try:
            worker.process.stdin.write(f'{episode}\n'.encode())
            worker.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died; the end of its report pipe shows it

    def _receive(self, worker: _EpisodeWorker) -> Iterator[dict[str, Any]]:
        data = os.read(worker.report, 1 << 16)
        if not data:
            worker.process.wait()  # the other end is closed
        *lines, worker.unread = (worker.unread + data).split(b'\n')
        yield from map(json.loads, lines)

    def _replace(self, worker: _EpisodeWorker, waiting: list[int], deaths: dict[int, int]) -> None:
        """Replace a dead worker; its episode is repeated."""
        code = worker.process.returncode
        self._selector.unregister(worker.report)
        os.close(worker.report)
        assert worker.process.stdin is not None  # it is a pipe
        worker.process.stdin.close()
        self._workers.remove(worker)
        if not worker.ready:
            raise WorkerFailed(f'a worker could not start (exit code {code})')
        episode = worker.episode
        if episode is not None:
            deaths[episode] = deaths.get(episode, 0) + 1
            if deaths[episode] >= MAX_DEATHS:
                raise WorkerFailed(
                    f'episode {episode}: {MAX_DEATHS} workers died running it (exit code {code})'
                )
            waiting.append(episode)
        self._start()


__all__ = ['EpisodePool', 'WorkerFailed']
