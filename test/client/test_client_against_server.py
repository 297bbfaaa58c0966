# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client against the bundled server, as a process of its own."""

from itertools import pairwise
from pathlib import Path
import pickle
import re
import signal
import subprocess
import sys
import time

from lifelines import run_process
from lifelines import start_process
from lifelines import stop_for_a_while
import numpy as np
from ports import free_port
import pytest
from unstable_world import write_unstable_world

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import SimulationDiverged
from urlab_ros_bridge.testing import Simulation

pytest.importorskip('mujoco')
pytest.importorskip('urlab_ros_bridge.sim.server', exc_type=ModuleNotFoundError)

ROOT = Path(__file__).parents[2]


class Process:
    """A server process on ports of its own; the same ports after a restart."""

    def __init__(self):
        self.rpc, self.state, self.camera = free_port(), free_port(), free_port()
        self.start()

    def start(self):
        self.process = start_process(
            [
                sys.executable,
                '-m',
                'urlab_ros_bridge.cli.main',
                'server',
                '--world',
                'rover',
                '--rpc-port',
                str(self.rpc),
                '--state-port',
                str(self.state),
                '--camera-port',
                str(self.camera),
            ],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope='module')
def server():
    process = Process()
    try:
        yield process
    finally:
        process.kill()


@pytest.fixture
def client(server):
    client = Client(rpc_port=server.rpc, shared=True)
    client.connect(timeout=100)
    client.set_mode('live')
    client.set_paused(False)
    client.reset()
    yield client
    client.close()


def test_the_handshake_describes_the_world(client):
    handshake = client.handshake
    rover = handshake.articulations['rover']
    assert handshake.world == 'rover' and handshake.depth_unit == 'm'
    assert 'shared_session' in handshake.extensions and client.supports_shared_sessions()
    assert rover.twist_controller.kind == 'differential'
    assert next(iter(rover.lidars.values())).rays == 360 and rover.frames['base'] == 'base_link'
    assert 'pallet' in handshake.entities
    assert handshake.model.opt.timestep == handshake.timestep


def test_every_tick_of_the_stream_is_whole_and_in_order(server, client):
    with StateStream(state_port=server.state, backlog=None) as stream:
        ticks = [stream.receive(5) for _ in range(60)][1:]
        step_ns = round(client.handshake.timestep * 1e9)
        assert {tick.closed_by for tick in ticks} == {'sim_time'}
        assert {b.stamp_ns - a.stamp_ns for a, b in pairwise(ticks)} == {step_ns}
        model = client.handshake.model
        for tick in ticks:
            grouped = tick.grouped()
            rover = grouped.articulations['rover']
            assert grouped.errors == [] and len(rover.base_states) == 1
            assert len(rover.effort) == len(rover.joints) > 0
            assert tick.state().sim_time_ns == tick.stamp_ns
            assert tick.state().step == tick.step
            xpos = grouped.entities['pallet']['xpos']
            np.testing.assert_allclose(xpos, tick.state().entities['pallet'].xpos)
        assert len(tick.state().articulations['rover'].qpos) == 7 + len(rover.joints) <= model.nq
        assert stream.stats.torn_ticks == stream.stats.decode_errors == 0


def test_rows_and_snapshot_agree_with_the_step_reply(server, client):
    client.set_paused(True)
    reply = client.step()
    with StateStream(state_port=server.state) as stream:
        stream.receive(2)
        tick = stream.receive(2)
    assert tick.stamp_ns == reply.sim_time_ns == client.status().sim_time_ns
    rover = tick.grouped().articulations['rover']
    np.testing.assert_allclose(
        next(iter(rover.base_states.values())).position,
        reply.articulations['rover'].qpos[:3],
        rtol=1e-6,
    )


def test_driving_moves_the_robot_and_stops_by_itself(client):
    client.set_twist('rover', [1.0, 0, 0], timeout=0.3)
    begin = client.step().sim_time_ns
    while (now := client.step()).sim_time_ns - begin < 1_000_000_000:
        time.sleep(0.02)
    rover = now.articulations['rover']
    assert rover.twist.linear[0] == 0.0
    assert rover.qpos[0] > 0.1 and abs(rover.qvel[0]) < 0.05


def test_plain_sessions_expire_each_other_but_not_shared_ones(server, client):
    with Client(rpc_port=server.rpc) as first, Client(rpc_port=server.rpc) as second:
        with pytest.raises(SessionExpired):
            first.step()
        second.set_paused(False)
        client.set_paused(False)
        assert client.generation == 1
    client.set_mode('live')


def test_the_example_of_the_docs_runs(server, client):
    page = (ROOT / 'docs' / 'client.md').read_text()
    code = re.search('```python\n(.*?)```', page, re.DOTALL)[1]
    assert '5559' in code and '5555' in code
    code = code.replace('5559', str(server.rpc)).replace('5555', str(server.state))
    run = run_process(
        [sys.executable, '-c', code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert 'world rover' in run.stdout and 'is at x = ' in run.stdout


@pytest.mark.parametrize('transport', ['zmq', 'shm'])
def test_a_stopped_server_costs_a_timeout_and_its_late_reply_is_nobodys(server, transport):
    with Client(rpc_port=server.rpc, shared=True, transport=transport) as client:
        stop_for_a_while(server.process)
        try:
            with pytest.raises(RequestTimeout):
                client.request('set_sim_speed', 0.3, percent=50.0)
        finally:
            server.process.send_signal(signal.SIGCONT)
        for percent in (60.0, 70.0, 100.0):
            assert client.set_sim_speed(percent) == percent
        assert client.transport == transport


@pytest.mark.slow
@pytest.mark.parametrize('transport', ['zmq', 'shm'])
def test_a_killed_server_is_found_again_with_fresh_data(transport):
    server = Process()
    client = Client(rpc_port=server.rpc, shared=True, transport=transport)
    try:
        client.connect(timeout=100)
        client.set_mode('live')
        client.set_paused(False)
        with StateStream(state_port=server.state, topics=['rover/']) as stream:
            while stream.receive(5).stamp_ns < 500_000_000:
                pass
            server.kill()
            while stream.receive(0.2) is not None:
                pass
            with pytest.raises((ConnectionLost, RequestTimeout)):
                client.request('status', timeout=0.3)
            server.start()
            assert client.request('status', timeout=100)['mode'] == 'live'
            assert (client.generation, client.transport) == (2, transport)
            client.set_paused(False)
            assert stream.receive(3).stamp_ns < 5_000_000_000
    finally:
        client.close()
        server.kill()


def test_a_step_of_an_unstable_world_raises_once_for_each_divergence(tmp_path):
    with Simulation(write_unstable_world(tmp_path), bridge=None, mode='direct') as simulation:
        client = simulation.client
        assert client.step(3, ctrl=[0.0]).divergence is None
        for count in (1, 2):
            began = client.forward().time
            with pytest.raises(SimulationDiverged, match='hinge') as caught:
                client.step(3, ctrl=[0.5])
            error = caught.value
            assert error.divergence.count == count and error.divergence.time == began
            # The request was carried out, its reply is not lost, and nothing is raised twice.
            assert error.result.divergence == error.divergence
            assert client.step(1).divergence == error.divergence == client.status().divergence
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        # A new client knows from its handshake what happened before; after a reset all is well.
        with Client(rpc_port=simulation.ports['rpc'], shared=True) as other:
            assert other.handshake.divergence == error.divergence
            assert other.step(1).divergence == error.divergence
            other.reset()
            assert other.status().divergence is client.step(1).divergence is None
            # Each client that looks learns of it, whoever made it.
            client.raise_on_divergence = False
            assert client.step(1, ctrl=[0.5]).divergence.count == 3
            with pytest.raises(SimulationDiverged):
                other.step(1)
