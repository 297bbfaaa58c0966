# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client against the bundled server, mostly as a process of its own."""

from pathlib import Path
import pickle
import re
import signal
import sys

from bundled_server import client_of
from bundled_server import running_server
from lifelines import run_process
from lifelines import stop_for_a_while
import pytest
from unstable_world import write_unstable_world
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SimulationDiverged

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope='module')
def server():
    """Yield a server, its port of requests and that of the state."""
    with program('server', '--world=rover', *ANY_PORTS) as (process, line):
        yield process, port_of(line), port_of(line, 'state')


def test_the_example_of_the_docs_runs(server):
    _, rpc, state = server
    page = (ROOT / 'docs' / 'client.md').read_text()
    code = re.search('```python\n(.*?)```', page, re.DOTALL)[1]
    assert '5559' in code and '5555' in code
    code = code.replace('5559', str(rpc)).replace('5555', str(state))
    run = run_process([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert 'world rover' in run.stdout and 'is at x = ' in run.stdout


@pytest.mark.parametrize('transport', ['zmq', 'shm'])
def test_a_stopped_server_causes_a_timeout_and_its_late_reply_is_dropped(server, transport):
    process, rpc, _ = server
    with Client(rpc_port=rpc, shared=True, transport=transport) as client:
        stop_for_a_while(process)
        try:
            with pytest.raises(RequestTimeout):
                client.request('set_sim_speed', 0.3, percent=50.0)
        finally:
            process.send_signal(signal.SIGCONT)
        for percent in (60.0, 70.0, 100.0):
            assert client.set_sim_speed(percent) == percent
        assert client.transport == transport


def test_a_step_of_an_unstable_world_raises_once_for_each_divergence(tmp_path):
    options = {'model': write_unstable_world(tmp_path), 'step_mode': 'direct', 'cameras': 'off'}
    with running_server(**options) as made, client_of(made, shared=True) as client:
        assert client.step(3, ctrl=[0.0]).divergence is None
        for count in (1, 2):
            began = client.forward().time
            with pytest.raises(SimulationDiverged, match='hinge') as caught:
                client.step(3, ctrl=[0.5])
            error = pickle.loads(pickle.dumps(caught.value))
            assert error.divergence.count == count and error.divergence.time == began
            # The request was carried out, its reply is not lost, and nothing is raised twice.
            assert error.result.divergence == error.divergence
            assert client.step(1).divergence == error.divergence == client.status().divergence
        # A new client knows from its handshake what happened before; after a reset all is well.
        with client_of(made, shared=True) as other:
            assert other.step(1).divergence == other.handshake.divergence == error.divergence
            other.reset()
            assert client.step(1).divergence is None
            # Each client gets the report, whichever caused it.
            client.raise_on_divergence = False
            assert client.step(1, ctrl=[0.5]).divergence.count == 3
            with pytest.raises(SimulationDiverged):
                other.step(1)
