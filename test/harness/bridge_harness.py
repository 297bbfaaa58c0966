# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Run a bridge in this process, and receive what it publishes."""

from __future__ import annotations

import contextlib
import threading
import time

from bundled_server import ports_of
from domains import free_domain as free_domain
import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from stamps import ns_of
from waiting import PATIENCE as PATIENCE
from waiting import wait_until as wait_until

from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.extras.bag import BagRecorder
from urlab_ros_bridge.ros.extras.lockstep import Lockstep
from urlab_ros_bridge.ros.features.timeline import Step
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.node import BridgeNode
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
from urlab_ros_bridge.ros.topics.cameras import Cameras

LISTEN = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)
LISTEN_BEST_EFFORT = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
RATES = ('odom_rate', 'joint_state_rate', 'sensor_rate', 'entity_rate')
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Listener:
    """A node with its own thread that keeps the messages it receives."""

    def __init__(self, domain):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node('listener', context=self.context)
        self.received = {}
        self.order = []
        self._clients = {}
        self._subscriptions = []
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop:
            # A test may destroy what the executor is about to wait for.
            with contextlib.suppress(InvalidHandle):
                self._executor.spin_once(timeout_sec=0.05)

    def listen(self, message_type, topic, qos=LISTEN):
        """Keep the messages of a topic; `order` gets (source time, topic, message)."""
        messages = self.received.setdefault(topic, [])

        def take(message, info):
            messages.append(message)
            self.order.append((info['source_timestamp'], topic, message))

        self._subscriptions.append(self.node.create_subscription(message_type, topic, take, qos))
        self._executor.wake()
        return messages

    def wait_for(
        self, message_type, topic, predicate=lambda message: True, timeout=PATIENCE, qos=LISTEN
    ):
        """Wait for a message that satisfies a predicate, and return it."""
        messages = self.received.get(topic)
        if messages is None:
            messages = self.listen(message_type, topic, qos)
        return wait_until(lambda: next((m for m in list(messages) if predicate(m)), None), timeout)

    def forget(self):
        """End all subscriptions and discard their messages, for the next test."""

        def unsubscribe():
            while self._subscriptions:
                self.node.destroy_subscription(self._subscriptions.pop())

        self.run(unsubscribe)
        self.received.clear()
        self.order.clear()

    def publisher(self, message_type, topic):
        """Return a publisher, depth 1, once its topic has a subscriber."""
        publisher = self.node.create_publisher(message_type, topic, 1)
        wait_until(publisher.get_subscription_count)
        return publisher

    def run(self, function):
        """
        Call a function in the thread of the executor, and return its result.

        Action clients are made here: they register with the executor before they are complete.
        """
        task = self._executor.create_task(function)
        wait_until(task.done)
        return task.result()

    def outcome(self, function):
        """Return the result of the future that a function returns, called as by `run`."""
        # Elsewhere an answer might come before rclpy has noted the question.
        future = self.run(function)
        wait_until(future.done)
        return future.result()

    def action(self, kind, name):
        """Return a client of an action that is served."""
        client = self.run(lambda: ActionClient(self.node, kind, name))
        wait_until(client.server_is_ready)
        return client

    def call(self, service_type, name, /, wait=PATIENCE, **fields):
        """
        Call a service and return its response.

        A new client on a busy machine may send its request before the server's side of DDS knows
        the reader of the response; rmw_fastrtps then drops the response after 0.1 s and logs
        "client will not receive response".  As every caller of a ROS service must, this repeats
        the call once, after five seconds.  If both were merely late, it waits for the second too,
        so that the bridge is idle afterwards.
        """
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(service_type, name)
        assert client.wait_for_service(wait), f'no service {name}'
        futures = [client.call_async(service_type.Request(**fields))]
        try:
            wait_until(futures[0].done, 5.0)
        except AssertionError:
            futures.append(client.call_async(service_type.Request(**fields)))
        answered = wait_until(lambda: next((f for f in futures if f.done()), None), wait)
        patience = time.monotonic() + (2.0 if len(futures) > 1 else 0.0)
        while time.monotonic() < patience and not all(future.done() for future in futures):
            time.sleep(0.01)
        return answered.result()

    def close(self):
        self._stop = True
        self._thread.join()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class CapturedLog:
    """
    The log of the nodes of this process, from pytest's capture of stderr (`capfd`).

    /rosout is not reliable: a process has one publisher of it for all nodes of one name, which
    may still belong to a node of another domain that Python has not collected yet.
    """

    def __init__(self, capfd):
        self._capfd, self._text = capfd, ''

    def with_words(self, *words):
        """Return the lines that contain any of these words, the oldest first."""
        self._text += self._capfd.readouterr().err
        return [line for line in self._text.splitlines() if any(word in line for word in words)]


def wait_for_time(messages, stamp_ns, timeout=PATIENCE):
    """
    Wait until a message of that simulation time or a later one is received, and return it.

    The last message received may be old on a busy machine.  To observe the state *after* an
    event, query the simulation's time and wait for it here.
    """
    wait_until(lambda: messages and ns_of(messages[-1]) >= stamp_ns, timeout)
    return messages[-1]


class Bridge:
    """
    A bridge with its executor's thread.

    :param server: a bundled server, or another with `ports` of requests and state.
    """

    def __init__(self, domain, server, features=FEATURES, **parameters):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        ports = getattr(server, 'ports', None) or ports_of(server)
        rpc, state = ports.values() if isinstance(ports, dict) else ports
        values = {'rpc_port': int(rpc), 'state_port': int(state), **parameters}
        # Refusing takes a second of discovery.
        values.setdefault('second_bridge', 'warn')
        values = dict.fromkeys(RATES, 0.0) | values  # most tests check every tick
        self.node = BridgeNode(
            context=self.context,
            features=features,
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self._executor = make_executor(self.context)
        self._executor.add_node(self.node)
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.node.start()
        self._thread.start()

    @property
    def timeline(self):
        return self.node.bridge.timeline

    @property
    def settled(self):
        """Return whether it is connected and has published a tick of the present world."""
        timeline = self.timeline
        return (
            self.link.state.connected
            and self.world.topics is not None
            and timeline.stamp_ns is not None
            and timeline.step(timeline.stamp_ns) is Step.SAME  # no world is about to begin
        )

    @property
    def stream(self):
        return self.node.bridge.part(StreamThread)

    @property
    def world(self):
        return self.node.bridge.part(CurrentWorld)

    @property
    def link(self):
        return self.node.bridge.part(ServerLink)

    @property
    def cameras(self):
        return self.node.bridge.part(Cameras)

    @property
    def commands(self):
        return self.node.bridge.part(Commands)

    @property
    def recorder(self):
        return self.node.bridge.part(BagRecorder)

    @property
    def lockstep(self):
        return self.node.bridge.part(Lockstep)

    def _run(self):
        while not self._stop:
            self._executor.spin_once(timeout_sec=0.1)

    def close(self):
        self.node.stop()
        self._stop = True
        self._thread.join()
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def start_bridged(keep, server, bridge=Bridge, **parameters):
    """Return a bridge to a server, and a listener, on a domain of their own."""
    domain = free_domain()
    listener = keep(Listener(domain))
    return keep(bridge(domain, server, **parameters)), listener
