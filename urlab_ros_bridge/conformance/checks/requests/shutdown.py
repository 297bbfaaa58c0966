# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a server; only tried on one that the suite has started itself.  Runs last."""

from __future__ import annotations

import time

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.peer import pack
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import skip


@check('server.shutting_down', PROTOCOL, 'Errors', 'The bridge began draining mid-op',
       modes=DIRECT, transports=('zmq',), last=True)  # fmt: skip
def shutting_down(peer: Peer) -> None:
    """A step that waits when the server is stopped answers shutting_down."""
    if peer.stop is None:
        raise skip('the server was not started by the suite, so it is not stopped')
    peer.call('set_paused', paused=True)
    peer.zmq.send(pack({'op': 'step', 'session_id': peer.session_id}))
    time.sleep(0.3)  # it must be under way
    peer.ended = True
    peer.stop()
    equal('code', decode(peer.zmq.receive(4.0)[0]).get('code'), 'shutting_down')
