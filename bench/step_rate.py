#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Step round trips per second, against the floor.

The floor is a bare REP socket in its own process that runs the same mj_step calls (same model,
same start, same ctrl) and answers the same reply bytes without looking at the request.  Both are
asked by the same REQ client with the same request bytes, in short turns, so that the noise of the
machine hits both; a ratio is the median over the turns, in brackets are the quartiles.  The last
columns are the same exchange by the package's typed client, which also packs and unpacks: with its
default transport (shared memory), and over ZeroMQ.
The second line of each row is the processor time of a round trip (user and system, as the kernel
counts it), of the process that answers and of the one that asks.  It includes polling before
sleep.  Other programs on the machine change it much less than they change rates.
With --busy 2 on two processors, all of them compete with programs that compute: then a tenth of
the requests waits for a time slice of theirs and takes most of the time, so turns are longer.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import multiprocessing
import os
import statistics
import sys
import time

import busy_loops
import numpy as np
from ratios import note
from ros_children import cpu_seconds
import zmq

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES

JOINTS = 12


def serve(world: str, pipe) -> None:
    """Run the real server until the pipe closes."""
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.server import Server

    ports = dict.fromkeys(
        ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port'), 0
    )
    server = Server(ServerConfig(world=world, **ports))
    server.start()
    pipe.send(server.endpoints['rpc'])
    pipe.recv()
    server.stop()


def floor(world: str, n_steps: int, reply: bytes, ctrl: list[float], pipe) -> None:
    """Answer every request with `reply` after `n_steps` of plain MuJoCo."""
    import mujoco

    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.model.world import load_world

    loaded = load_world(ServerConfig(world=world))
    model, data = loaded.model, loaded.data
    data.ctrl[:] = ctrl
    socket = zmq.Context.instance().socket(zmq.REP)
    socket.setsockopt(zmq.RCVTIMEO, 500)
    port = socket.bind_to_random_port('tcp://127.0.0.1')
    pipe.send(f'tcp://127.0.0.1:{port}')
    while not pipe.poll():
        try:
            while True:
                socket.recv()
                for _ in range(n_steps):
                    mujoco.mj_step(model, data)
                socket.send(reply)
        except zmq.Again:
            continue


def start(target, *args):
    """Start a process and return (endpoint, process id, stop function)."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=target, args=(*args, there), daemon=True)
    process.start()
    endpoint = here.recv()

    def stop() -> None:
        here.send(None)
        process.join(5)

    return endpoint, process.pid, stop


def connect(endpoint: str) -> zmq.Socket:
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.setsockopt(zmq.LINGER, 0)
    socket.connect(endpoint)
    return socket


def ask(socket: zmq.Socket, message: dict) -> dict:
    socket.send(codec.pack(message))
    reply = codec.unpack(socket.recv(), MAX_REPLY_BYTES)
    if reply['op'] == 'error':
        raise SystemExit(f'the server refused: {reply}')
    return reply


@dataclass(frozen=True)
class Turn:
    """
    Round trips of one turn.

    :ivar rate: a second.
    :ivar answering: us of processor time of the process that answers, for each.
    :ivar asking: likewise, of this process.
    """

    rate: float
    answering: float
    asking: float

    @property
    def cost(self) -> float:
        """Return us of processor time of both processes for each round trip."""
        return self.answering + self.asking


def take_turn(call, count: int, pid: int) -> Turn:
    """
    Call a function many times.

    :param pid: of the process that answers.
    """
    before = [cpu_seconds(each) for each in (pid, os.getpid())]
    begin = time.perf_counter()
    for _ in range(count):
        call()
    span = time.perf_counter() - begin
    spent = [cpu_seconds(each) for each in (pid, os.getpid())]
    answering, asking = (1e6 * (b - a) / count for a, b in zip(before, spent, strict=True))
    return Turn(count / span, answering, asking)


class Trio:
    """
    The server, the floor and the server of typed clients, which all follow the same trajectory.

    :ivar turns: of each round, by name.
    """

    def __init__(self, n_steps: int) -> None:
        from urlab_ros_bridge.client.client import Client

        self._n_steps, self._ctrl = n_steps, [0.1] * JOINTS
        self.turns: list[dict[str, Turn]] = []
        endpoint, server_pid, stop_server = start(serve, 'quadruped')
        self._server = connect(endpoint)
        session = ask(self._server, {'op': 'hello'})['session_id']
        message = {
            'op': 'step',
            'session_id': session,
            'n_steps': n_steps,
            'per_articulation': {'quadruped': {'ctrl': self._ctrl, 'control_mode': 'raw'}},
        }
        self._request = codec.pack(message)
        reply = codec.pack(ask(self._server, message))
        ask(self._server, {'op': 'reset', 'session_id': session})
        bare_endpoint, floor_pid, stop_floor = start(
            floor, 'quadruped', n_steps, reply, self._ctrl
        )
        self._bare = connect(bare_endpoint)
        typed_endpoint, typed_pid, stop_typed = start(serve, 'quadruped')
        port = int(typed_endpoint.rsplit(':', 1)[1])
        self._typed = Client('127.0.0.1', port, shared=True)
        self._typed_zmq = Client('127.0.0.1', port, shared=True, transport='zmq')
        for client in (self._typed, self._typed_zmq):
            client.connect()
        assert self._typed.transport == 'shm'
        self._typed.set_mode('direct')
        self._typed.reset()
        self._pids = {
            'floor': floor_pid,
            'server': server_pid,
            'client': typed_pid,
            'client over ZeroMQ': typed_pid,
        }
        self._stops = stop_floor, stop_server, stop_typed

    def _exchange(self, socket: zmq.Socket) -> None:
        socket.send(self._request)
        socket.recv()

    def _typed_step(self, client) -> None:
        state = client.step(self._n_steps, ctrl=self._ctrl, control_mode='raw')
        state.articulations['quadruped'].qpos  # noqa: B018  (the vector is decoded when read)

    def run(self, rounds: int, count: int) -> None:
        """Ask each of them `count` times a round, in an order that changes."""
        order = [
            ('floor', lambda: self._exchange(self._bare)),
            ('server', lambda: self._exchange(self._server)),
            ('client', lambda: self._typed_step(self._typed)),
            ('client over ZeroMQ', lambda: self._typed_step(self._typed_zmq)),
        ]
        for turn in range(rounds):
            turned = reversed(order) if turn % 2 else order
            self.turns.append(
                {name: take_turn(call, count, self._pids[name]) for name, call in turned}
            )

    def close(self) -> None:
        self._typed.close()
        self._typed_zmq.close()
        for stop in self._stops:
            stop()


def costs_of(trio: Trio, name: str) -> str:
    """Return the processor time of a round trip: of the answering process + the asking one."""
    turns = [turn[name] for turn in trio.turns]
    answering = statistics.median(turn.answering for turn in turns)
    return f'{answering:.0f} + {statistics.median(turn.asking for turn in turns):.0f}'


def measure(n_steps: int, rounds: int, count: int) -> float:
    """Print one row of the table; return server rate / floor rate."""
    trio = Trio(n_steps)
    trio.run(rounds, count)
    trio.close()
    floor_rate = statistics.median(turn['floor'].rate for turn in trio.turns)
    row, costs = f'{n_steps:7d} {floor_rate:8.0f}', [f'floor {costs_of(trio, "floor")}']
    middles = []
    for name in ('server', 'client', 'client over ZeroMQ'):
        ratios = [turn[name].rate / turn['floor'].rate for turn in trio.turns]
        note(f'{name}, {n_steps} steps a request', ratios)
        low, middle, high = np.percentile(ratios, (25, 50, 75))
        middles.append(middle)
        rate_of = statistics.median(turn[name].rate for turn in trio.turns)
        row += f' {rate_of:8.0f} {middle:5.2f} ({low:.2f}-{high:.2f})'
        spent = [turn[name].cost / turn['floor'].cost for turn in trio.turns]
        note(f'{name}, {n_steps} steps a request, CPU', spent)
        costs.append(f'{name} {costs_of(trio, name)} ({statistics.median(spent):.2f})')
    print(f'{row}\n{"":7} CPU us: {", ".join(costs)}', flush=True)
    return middles[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--rounds', type=int, default=61)
    parser.add_argument('--count', type=int, help='round trips a turn, 300 or 600 (busy)')
    busy_loops.add_option(parser)
    options, _ = parser.parse_known_args()
    busy_loops.start(options.busy)
    count = options.count or (600 if options.busy else 300)
    print(
        'quadruped, 12 joints, raw control; round trips per second, medians\n'
        'n_steps    floor   server  ratio (quartiles)   client  ratio (quartiles)'
        '   client over ZeroMQ (quartiles)\n'
        '        CPU: us of the answering + of the asking process (ratio of both to the floor)'
    )
    for n_steps in (1, 4, 10, 20):
        measure(n_steps, options.rounds, count)
    return 0


if __name__ == '__main__':
    sys.exit(main())
