# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A command of a sender that has ended never moves a robot.

Real processes are stopped, killed and continued here; publishers publish until they are told to
stop, and the world is asked, by a client of its own, where the robot is.
"""

import signal
import threading
import time

from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from lifelines import stop_for_a_while
from nav_msgs.msg import Odometry
import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client

pytestmark = pytest.mark.timeout(180)

FORWARD = Twist(linear=Vector3(x=1.0))
# m; a settled rover creeps less, and one command drives it 0.25 m at least.
AT_REST = 0.02
# s; several times cmd_vel_timeout and command_max_age.
GONE = 2.5


class Driver:
    """Publishes one message 20 times a second."""

    def __init__(self, listener, kind, topic, message):
        self.publisher = listener.node.create_publisher(kind, topic, 1)
        self.message = message
        wait_until(self.publisher.get_subscription_count)

    def drive(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.publisher.publish(self.message)
            time.sleep(0.05)


class Goer:
    """Publishes in the background for the length of a with block."""

    def __init__(self, driver):
        self._driver, self._stop = driver, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._stop.is_set():
            self._driver.drive(0.1)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


class Scene:
    """A rover on its wheels, a bridge, a driver and an observer."""

    def __init__(self, server, bridge, listener):
        self.server, self.bridge, self.listener = server, bridge, listener
        self.client = Client('127.0.0.1', server.ports[0], shared=True)
        self.client.connect()
        self.driver = Driver(listener, Twist, 'cmd_vel', FORWARD)
        # Driving proves that it works; it has settled when it is at rest again.
        with Goer(self.driver):
            wait_until(lambda: self.speed() > 0.8)
        wait_until(lambda: self.speed() < 0.005)

    def state(self):
        # In live mode this only reads.
        return self.client.step().articulations['rover']

    def speed(self):
        return float(np.hypot(*self.state().qvel[:2]))

    def place(self):
        return self.state().qpos[:2].copy()

    def moved_from(self, place):
        return float(np.linalg.norm(self.place() - place))

    def run_for(self, seconds):
        """Wait until so much simulation time has gone by."""
        until = self.client.status().sim_time_ns + round(seconds * 1e9)
        wait_until(lambda: self.client.status().sim_time_ns >= until)


@pytest.fixture(scope='module')
def lasting_scene(lasting_simulation):
    scene = Scene(*lasting_simulation(cmd_vel_type='twist'))
    yield scene
    scene.client.close()


@pytest.fixture
def scene(lasting_scene):
    """Return the scene that these tests share, with the robot at rest where it began."""
    lasting_scene.client.set_paused(False)
    lasting_scene.client.set_mode('live')
    lasting_scene.client.reset()
    lasting_scene.run_for(0.5)  # it drops onto its wheels
    wait_until(lambda: lasting_scene.speed() < 0.005)
    return lasting_scene


class Stopped:
    """A process that is stopped for the length of a with block."""

    def __init__(self, program):
        self._process = getattr(program, 'process', program)

    def __enter__(self):
        stop_for_a_while(self._process)

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGCONT)


# Those with a scene of their own come first: the shared one runs from its first test on.


def pause_with_commands(scene, beside=lambda: None):
    """Say a few commands in a pause, and nothing more: the robot stays where it is."""
    place = scene.place()
    scene.client.set_paused(True)
    scene.driver.drive(0.4)
    beside()
    time.sleep(GONE)
    scene.client.set_paused(False)
    scene.run_for(1.5)
    assert scene.moved_from(place) < AT_REST


def test_commands_sent_during_a_pause_move_nothing_after_it_unless_repeated(scene):
    pause_with_commands(scene)
    scene.client.set_paused(True)
    with Goer(scene.driver):
        time.sleep(GONE)
        scene.client.set_paused(False)
        wait_until(lambda: scene.speed() > 0.8)


def test_commands_queued_while_the_bridge_was_stopped_move_nothing(scene):
    place = scene.place()
    with Stopped(scene.bridge):
        scene.driver.drive(0.4)
        time.sleep(GONE)
    # A reliable publisher sends again what was not acknowledged, every three seconds.
    scene.run_for(4.5)
    assert scene.moved_from(place) < AT_REST
    # The last command of a queue counts if it is fresh; a sender that continues keeps driving.
    with Stopped(scene.bridge), Goer(scene.driver):
        time.sleep(1.0)
    with Goer(scene.driver):
        wait_until(lambda: scene.speed() > 0.8)


def test_commands_queued_while_the_server_was_stopped_move_nothing(scene):
    place = scene.place()
    with Stopped(scene.server):
        scene.driver.drive(1.0)
        time.sleep(GONE)
    scene.run_for(1.5)
    assert scene.moved_from(place) < AT_REST
    with Goer(scene.driver):
        wait_until(lambda: scene.speed() > 0.8)
        with Stopped(scene.server):
            time.sleep(1.0)
        wait_until(lambda: scene.speed() > 0.8)
        stop_for_a_while(scene.server.process)
    # It was under way when its server was stopped: now it brakes.
    time.sleep(GONE)
    scene.server.process.send_signal(signal.SIGCONT)
    place = scene.place()
    scene.run_for(1.5)
    # 1 m/s is lost at 3 m/s^2 within 0.17 m; cmd_vel_timeout would add 0.5 m.
    assert scene.moved_from(place) < 0.3 and scene.speed() < 0.02


@pytest.mark.parametrize('stepped', [False, True])
def test_a_bridge_that_ends_never_waits_for_a_server(simulation, stepped, capfd):
    """The server is stopped, like one that ends; the driven bridge ends at once, silently."""

    options = {'lockstep_topics': '[odom_answer]'} if stepped else {}
    server, bridge, listener = simulation(
        '--world', 'rover', rpc_timeout=60.0 if stepped else 0.4, **options
    )
    if not stepped:
        publisher = listener.publisher(Twist, '/cmd_vel')
        odometry = listener.listen(Odometry, '/odom')
        wait_until(
            lambda: (
                publisher.publish(FORWARD)
                or (odometry and odometry[-1].twist.twist.linear.x > 0.05)
            )
        )
    else:
        wait_until(lambda: server.client.status().mode == 'direct')
    server.process.send_signal(signal.SIGSTOP)
    try:
        capfd.readouterr()
        bridge.process.send_signal(signal.SIGINT)
        assert bridge.process.wait(40) == 0
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert 'refused' not in capfd.readouterr().err
