# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor at the bedside of servers of several kinds, over real sockets."""

from contextlib import contextmanager
import socket
import threading

from ports import free_port
import zmq

from urlab_ros_bridge.cli.checks import network
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.ops import OPS

HELLO = {
    'op': 'hello_ok',
    'session_id': 's1',
    'urlab_version': 'urlab/0.9',
    'mujoco_version': '4.0.0',
    'mujoco_version_int': 400,
    'manager_present': True,
    'shm_session_dir': '',
    'mjb': b'',
    'mjb_size': 0,
    'articulations': [],
    'entities': {},
    'global_cameras': {},
    'extensions': ['shared_session', 'status'],
}
STATUS = {
    'op': 'status_ok',
    'mode': 'direct',
    'pinned': False,
    'paused': False,
    'speed': 100.0,
    'real_time_factor': 1.0,
    'tick_rate': 500.0,
    'sim_time': {'sec': 1, 'nsec': 0},
    'step': 500,
    'sessions': [{'id': 'a'}, {'id': 'b'}],
    'cameras': 0,
    'world': 'rover',
}
META = {'op': 'meta_ok', 'ops': [op.meta() for op in OPS.values()]}


@contextmanager
def server(answers, state=False):
    """Serve `answers` by op on a free port; yield the values for the doctor and the ops asked."""
    context = zmq.Context()
    rpc, pub, stop = context.socket(zmq.REP), context.socket(zmq.PUB), threading.Event()
    ports = [s.bind_to_random_port('tcp://127.0.0.1') for s in (rpc, pub)]
    asked = []

    def run():
        while not stop.is_set():
            if state:
                pub.send_multipart([b'state/full', b''])
            if rpc.poll(10):
                op = unpack(rpc.recv())['op']
                asked.append(op)
                reply = answers.get(op, {'op': 'error', 'code': 'unknown_op', 'message': op})
                rpc.send(reply if isinstance(reply, bytes) else pack(reply))

    thread = threading.Thread(target=run)
    thread.start()
    values = ('127.0.0.1', {'rpc_port': ports[0], 'state_port': ports[1]}, 0.5)
    try:
        yield values, asked
    finally:
        stop.set()
        thread.join()
        context.destroy(0)


def test_a_running_server_is_described():
    answers = {'meta': META, 'hello': HELLO, 'status': {**STATUS, 'mode': 'live'}}
    with server(answers, state=True) as (values, _):
        rpc, stream = network.check_all(*values)
    assert rpc.level is stream.level is Severity.OK
    for part in ('world rover', 'urlab/0.9', 'MuJoCo 4.0.0', 'live mode', '2 sessions'):
        assert part in rpc.found


def test_nobody_on_this_machine_is_fine_when_one_could_start():
    free = free_port()
    ports = dict.fromkeys(('rpc_port', 'state_port', 'camera_port'), free)
    values = ('127.0.0.1', ports, 0.2)
    findings = network.check_all(*values)
    assert [finding.level for finding in findings] == [Severity.OK] * 4
    assert 'urlab up' in findings[0].found
    with socket.socket() as holder:
        holder.bind(('127.0.0.1', free))
        holder.listen(1)
        taken = network.check_all(*values)[1]
    assert (
        taken.level is Severity.FAIL and '--port-offset' in taken.advice and 'pid' in taken.found
    )
