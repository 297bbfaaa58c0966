# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bridge as a managed node: what is there in which state, and that nothing leaks."""

import gc
import os
import threading

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import Listener
from bridge_harness import wait_until
from managed_node import ACTIVATE
from managed_node import CLEANUP
from managed_node import CONFIGURE
from managed_node import DEACTIVATE
from managed_node import ManagedNode
import pytest
from rosgraph_msgs.msg import Clock
from small_world import SmallServer

from urlab_ros_bridge.ros.program.lifecycle import ManagedBridge


@pytest.fixture
def managed(keep):
    """Return a function: parameters -> managed bridge to the small world."""

    def make(**parameters):
        server, listener = keep(SmallServer()), keep(Listener(free_domain()))
        ports = {f'{name}_port': port for name, port in server.ports.items()}
        values = {**ports, **parameters}
        return keep(ManagedNode(ManagedBridge, 'urlab_bridge_lifecycle', listener, values))

    return make


def publishers(listener, topic):
    return listener.node.count_publishers(topic)


@pytest.mark.distro
def test_topics_exist_only_while_active(managed):
    bridge = managed()
    listener = bridge.listener
    assert publishers(listener, '/clock') == 0
    assert not bridge.change(ACTIVATE)  # not before it is configured
    assert bridge.change(CONFIGURE)
    assert not listener.received.get('/clock')
    assert bridge.change(ACTIVATE)
    listener.wait_for(Clock, '/clock', qos=LISTEN_BEST_EFFORT)
    assert bridge.change(DEACTIVATE)
    count = len(listener.received['/clock'])
    wait_until(lambda: publishers(listener, '/joint_states') == 0)
    assert bridge.change(ACTIVATE)
    wait_until(lambda: len(listener.received['/clock']) > count)
    assert bridge.change(DEACTIVATE) and bridge.change(CLEANUP)
    wait_until(lambda: publishers(listener, '/clock') == 0)


def test_activation_fails_beside_a_bridge_of_the_same_name(managed, keep):
    bridge = managed()
    listener = bridge.listener
    other = keep(Bridge(listener.context.get_domain_id(), keep(SmallServer())))
    listener.wait_for(Clock, '/clock', qos=LISTEN_BEST_EFFORT)
    assert bridge.change(CONFIGURE) and not bridge.change(ACTIVATE)
    other.close()
    other.close = lambda: None
    assert bridge.change(ACTIVATE)
    count = len(listener.received['/clock'])
    wait_until(lambda: len(listener.received['/clock']) > count)


@pytest.mark.distro
def test_wrong_parameters_fail_to_configure(managed):
    bridge = managed(clock_rate=-1.0)
    listener = bridge.listener
    assert not bridge.change(CONFIGURE)
    # Nothing is left of the node that came to nothing.
    left = ['listener', 'urlab_bridge_lifecycle']
    wait_until(lambda: sorted(listener.node.get_node_names()) == left)


def test_cycles_leave_no_socket_and_no_thread_behind(managed, request):
    bridge = managed()
    listener = bridge.listener
    bridge.change(CONFIGURE)

    def cycle():
        assert bridge.change(ACTIVATE)
        listener.wait_for(Clock, '/clock', qos=LISTEN_BEST_EFFORT)
        assert bridge.change(DEACTIVATE)

    def left():
        gc.collect()  # a node has cycles, and while nothing is made nothing is collected
        return len(os.listdir('/proc/self/fd')), threading.active_count()

    cycle()
    cycle()
    files, threads = left()
    for _ in range(8 if request.config.getoption('long') else 3):
        cycle()
    # Fast DDS and ZeroMQ close in threads of their own.
    limits = (files + 2, threads)
    wait_until(lambda: all(now <= limit for now, limit in zip(left(), limits, strict=True)))
