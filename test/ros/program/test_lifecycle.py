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
from bridge_harness import wait_for_message
from bridge_harness import wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from small_world import SmallServer

from urlab_ros_bridge.ros.rclpy_tools.executor import spin_once

pytestmark = pytest.mark.ros
ChangeState = pytest.importorskip('lifecycle_msgs.srv').ChangeState
Transition = pytest.importorskip('lifecycle_msgs.msg').Transition

CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


class Managed:
    """A managed bridge in a context of its own."""

    def __init__(self, domain, server, words=(), **parameters):
        from urlab_ros_bridge.ros.program.lifecycle import ManagedBridge

        self.context = Context()
        rclpy.init(args=['--ros-args', *words], context=self.context, domain_id=domain)
        rpc_port, state_port = (int(port) for port in server.ports)
        values = {'rpc_port': rpc_port, 'state_port': state_port, **parameters}
        self.node = ManagedBridge(
            context=self.context,
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            spin_once(self._executor, self.node, 0.1)

    def close(self):
        self._stop.set()
        self._thread.join()
        self.node.stop()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def managed(keep):
    """Return a factory: parameters -> (managed bridge, listener)."""

    def make(**parameters):
        domain = free_domain()
        server, listener = keep(SmallServer()), keep(Listener(domain))
        return keep(Managed(domain, server, **parameters)), listener

    return make


def change(listener, transition):
    request = {'transition': Transition(id=transition)}
    return listener.call(
        ChangeState, '/urlab_bridge_lifecycle/change_state', wait=20.0, **request
    ).success


def publishers(listener, topic):
    return listener.node.count_publishers(topic)


@pytest.mark.distro
def test_topics_are_there_only_while_active(managed):
    _, listener = managed()
    assert publishers(listener, '/clock') == 0
    assert change(listener, CONFIGURE)
    assert not listener.heard.get('/clock')
    assert change(listener, ACTIVATE)
    wait_for_message(listener, Clock, '/clock', qos=LISTEN_BEST_EFFORT)
    assert change(listener, DEACTIVATE)
    count = len(listener.heard['/clock'])
    wait_until(lambda: publishers(listener, '/joint_states') == 0)
    assert change(listener, ACTIVATE)
    wait_until(lambda: len(listener.heard['/clock']) > count)
    assert change(listener, DEACTIVATE) and change(listener, CLEANUP)
    wait_until(lambda: publishers(listener, '/clock') == 0)


def test_it_cannot_be_activated_beside_a_bridge_of_its_name_and_can_after_it(managed):
    _, listener = managed()
    domain = listener.context.get_domain_id()
    server = SmallServer()
    try:
        other = Bridge(domain, *server.ports)
        try:
            wait_for_message(listener, Clock, '/clock', qos=LISTEN_BEST_EFFORT)
            assert change(listener, CONFIGURE)
            assert not change(listener, ACTIVATE)
        finally:
            other.close()
        assert change(listener, ACTIVATE)
        count = len(listener.heard['/clock'])
        wait_until(lambda: len(listener.heard['/clock']) > count)
    finally:
        server.close()


@pytest.mark.distro
def test_wrong_parameters_fail_to_configure(managed):
    _, listener = managed(clock_rate=-1.0)
    assert not change(listener, CONFIGURE)
    # Nothing is left of the node that came to nothing.
    left = ['listener', 'urlab_bridge_lifecycle']
    wait_until(lambda: sorted(listener.node.get_node_names()) == left)


@pytest.mark.distro
def test_changed_parameters_survive_deactivation_and_not_cleanup(managed):
    bridge, listener = managed()
    change(listener, CONFIGURE)
    change(listener, ACTIVATE)
    inner = bridge.node._bridge._node
    inner.set_parameters([Parameter('clock_rate', value=7.0)])
    change(listener, DEACTIVATE)
    assert bridge.node._bridge._node.get_parameter('clock_rate').value == 7.0
    change(listener, CLEANUP)
    change(listener, CONFIGURE)
    assert bridge.node._bridge._node.get_parameter('clock_rate').value == 100.0


def test_cycles_leave_no_socket_and_no_thread_behind(managed, request):
    _, listener = managed()
    change(listener, CONFIGURE)

    def cycle():
        assert change(listener, ACTIVATE)
        wait_for_message(listener, Clock, '/clock', qos=LISTEN_BEST_EFFORT)
        assert change(listener, DEACTIVATE)

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
