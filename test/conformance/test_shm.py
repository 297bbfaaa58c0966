# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of shared memory, against a small server of our own, sound and with faults."""

import msgpack
from proxy import Fault
from proxy import SpoiledChannel
import pytest
from shm_server import ShmServer

from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance.runner import FAIL
from urlab_ros_bridge.conformance.runner import PASS
from urlab_ros_bridge.conformance.runner import SKIP

# They need streams or a renderer, which a bare dispatcher does not have.
STREAMED = ('shm.state', 'shm.cameras', 'camera', 'step.live', 'recording.live', 'set_paused')
TOO_LARGE = msgpack.packb({'op': 'error', 'code': 'reply_too_large', 'message': ''})
CHECKS = [
    check
    for check in all_checks()
    if not check.slow and not any(check.matches(pattern) for pattern in STREAMED)
]


@pytest.fixture
def outcomes(dispatch, tmp_path):
    """Return what runs checks over shared memory, and collects the outcomes by name."""
    folder = tmp_path / 'URLabShm' / 'live'
    folder.mkdir(parents=True)

    def tell_folder(request, reply):
        if reply.get('op') == 'hello_ok':
            reply['shm_session_dir'] = str(folder)
        return reply

    def start(patterns=('',), exchange=dispatch, too_large=TOO_LARGE, **fault):
        chosen = [c for c in CHECKS if '' in patterns or any(map(c.matches, patterns))]
        peer = Peer(Places('127.0.0.1', 'tcp://127.0.0.1:1', '', '', ''))
        peer.zmq.close()
        peer.zmq = peer.channel = SpoiledChannel(dispatch, Fault(reply=tell_folder))
        with ShmServer(folder, exchange, too_large=too_large, **fault):
            peer.connect()
            results = list(run(peer, Plan(tuple(chosen), transports=('shm',))))
        return {result.check.name: result for result in results}

    return start


def failed(results):
    return {name for name, result in results.items() if result.outcome == FAIL}


def test_every_request_works_over_shared_memory(outcomes):
    results = outcomes()
    assert failed(results) == set()
    passed = [name for name, result in results.items() if result.outcome == PASS]
    assert len(passed) > 120
    assert {'shm.header', 'shm.oversize', 'shm.one_session', 'step.direct.ctrl'} <= set(passed)


def spoil_magic(name, header):
    header[0] += name == 'rep.shm'


def spoil_slots(name, header):
    header[3] = 1 if name == 'state.shm' else header[3]


@pytest.mark.parametrize('spoil', [spoil_magic, spoil_slots])
def test_wrong_header_is_found(outcomes, spoil):
    results = outcomes(('shm', 'error.shape', 'step.reply'), header=spoil)
    assert failed(results) == {'shm.header'}


def test_a_dropped_reply_is_found(outcomes):
    assert failed(outcomes(('shm', 'step.reply'), too_large=None)) == {'shm.oversize'}


def test_a_session_of_its_own_is_found(outcomes, dispatch):
    def other_session(frame):
        request = msgpack.unpackb(frame)
        answer = msgpack.unpackb(dispatch(frame))
        if request.get('op') == 'step' and 'step' in answer:
            answer['step'] += 100
        return msgpack.packb(answer)

    assert failed(outcomes(('shm.one_session',), other_session)) == {'shm.one_session'}


def test_without_a_folder_there_is_one_line_that_says_so(dispatch):
    peer = Peer(Places('127.0.0.1', 'tcp://127.0.0.1:1', '', '', ''))
    peer.zmq.close()
    peer.zmq = peer.channel = SpoiledChannel(dispatch, Fault())
    peer.connect()
    (result,) = run(peer, Plan(tuple(CHECKS[:20]), transports=('shm',)))
    assert result.outcome == SKIP
    assert 'shared-memory directory' in result.reason
