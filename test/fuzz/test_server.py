# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server program under requests and control messages of every kind."""

from collections import Counter
import os
from pathlib import Path

from example_counts import examples
from hypothesis import given
from hypothesis import Phase
from hypothesis import settings
from hypothesis import strategies as st
from odd_requests import frames
from odd_requests import SESSION
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program
import zmq

from urlab_ros_bridge.wire import control
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS

PATIENCE = 200_000  # ms; on a busy machine a model is tried for a minute, and then stepped
GROWTH_MB = 60.0
RARE = {'hello', 'recording_save', 'meta'}  # a hello ships the whole model
EDITING = [name for name, op in OPS.items() if op.category == EDITOR_ONLY]
RUNNING = [name for name in OPS if name not in EDITING and name not in RARE]
# What would only slow down the rest.
TIDY = (
    ('set_paused', {'paused': False}), ('recording_stop', {}), ('recording_clear', {}),
    ('replay_stop', {}), ('set_sim_speed', {'percent': 100}), ('randomize', {'restore': True}),
    ('reset', {}),
)  # fmt: skip


class Attack:
    """Sends frames to a server, and judges its replies."""

    def __init__(self, keep, line):
        def connected(kind, place):
            socket = keep(zmq.Context.instance().socket(kind))
            socket.linger, socket.rcvtimeo = 0, PATIENCE
            socket.connect(f'tcp://127.0.0.1:{port_of(line, place)}')
            return socket

        self._requests, self._asker = connected(zmq.DEALER, 'rpc'), connected(zmq.REQ, 'rpc')
        self._control = connected(zmq.PUB, 'control')
        self.answers = Counter()
        self.session = self.ask('hello', shared=True)['session_id']

    def ask(self, op, **fields):
        session = {} if op == 'hello' else {'session_id': self.session}
        self._asker.send(codec.pack({'op': op, **session, **fields}))
        return codec.unpack(self._asker.recv(), 1 << 30)

    def send(self, requests, controls):
        for parts in controls:
            self._control.send_multipart(parts)
        session = self.session.encode()
        for frame in requests:
            self._requests.send_multipart([b'', frame.replace(SESSION.encode(), session)])
        for _ in requests:
            self.judge(codec.unpack(self._requests.recv_multipart()[-1], 1 << 30))
        if self.ask('status').get('code') == 'session_expired':
            self.session = self.ask('hello', shared=True)['session_id']
        for op, fields in TIDY:
            self.ask(op, **fields)

    def judge(self, message):
        answer = message['op']
        if answer == 'error':
            answer = message['code']
            assert set(message) == {'op', 'code', 'message'}
            assert answer in ERROR_CODES and answer != 'internal_error', message
        self.answers[answer] += 1


def controls(prefix):
    setpoints = st.binary(max_size=40) | st.lists(
        st.tuples(st.integers(-1, 12), st.floats(-2, 2, width=32)), max_size=4
    ).map(lambda pairs: control.pack_setpoints(*zip(*pairs, strict=True)) if pairs else b'')
    topic = st.sampled_from(control.KINDS).map(lambda kind: control.control_topic(kind, prefix))
    return st.tuples(topic | st.binary(max_size=20), setpoints).map(list)


def usage_of(pid):
    """Return the memory (MB) and the number of open files of a process."""
    text = Path(f'/proc/{pid}/status').read_text()
    memory = int(text.partition('VmRSS:')[2].split()[0]) / 1024
    return memory, len(os.listdir(f'/proc/{pid}/fd'))


@pytest.mark.parametrize('world', ['rover', 'editor'])
def test_the_server_takes_no_harm(world, tmp_path, monkeypatch, keep):
    monkeypatch.setenv('MALLOC_ARENA_MAX', '1')  # memory that threads keep would hide a leak
    words = ['--editor'] if world == 'editor' else [f'--world={world}']
    words += [f'--data-dir={tmp_path}/data', *ANY_PORTS]
    ops = [*RUNNING, *RARE, *(EDITING * 3 if world == 'editor' else [])]
    usage = []
    with (tmp_path / 'log').open('w') as log, program('server', *words, log=log) as (server, line):
        attack = Attack(keep, line)

        # Without shrinking: the server remembers what was sent before.
        @settings(max_examples=examples(800), phases=[Phase.generate])
        @given(st.lists(frames(ops), min_size=1, max_size=12), st.lists(controls(world)))
        def holds(requests, control_messages):
            attack.send(requests, control_messages)
            assert server.poll() is None
            usage.append(usage_of(server.pid))

        holds()
        assert not attack.ask('status').get('fault')
    assert server.returncode == 0
    assert 'Traceback' not in (tmp_path / 'log').read_text()
    (memory, files), (memory_after, files_after) = usage[len(usage) // 2], usage[-1]
    assert memory_after - memory < GROWTH_MB and files_after < files + 40
    # It got beyond the first checks: ops were done, and refused for many reasons.
    print(world, dict(attack.answers))
    done = {answer for answer in attack.answers if answer.endswith('_ok')}
    assert len(done) >= 10 and len(attack.answers) - len(done) >= 8
