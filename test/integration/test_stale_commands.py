# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A command of a sender that has ended never moves a robot.

Real processes are stopped, killed and continued here; publishers publish until they are told to
stop, and the world is asked, by a client of its own, where the robot is.
"""

import signal
import time

from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from lifelines import stop_for_a_while
import numpy as np
import pytest
from repeating import repeating
from simulations import ServerProgram

pytestmark = pytest.mark.timeout(180)

# m; a settled rover creeps less, and one command drives it 0.25 m at least.
AT_REST = 0.02
# s; several times cmd_vel_timeout and command_max_age.
GONE = 2.5


class Scene:
    """A rover on its wheels, a bridge, a driver and an observer."""

    def __init__(self, server, bridge, listener):
        self.server, self.bridge, self.client = server, bridge, server.client
        self.publisher = listener.publisher(Twist, 'cmd_vel')
        # Driving proves that it works; it has settled when it is at rest again.
        with self.driving():
            wait_until(lambda: self.speed() > 0.8)

    def drive(self, seconds):
        """Publish 20 times a second."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.publisher.publish(Twist(linear=Vector3(x=1.0)))
            time.sleep(0.05)

    def driving(self):
        """Publish in the background for the length of a with block."""
        return repeating(lambda: self.drive(0.1))

    def state(self):
        # In live mode this only reads.
        return self.client.step().articulations['rover']

    def speed(self):
        return float(np.hypot(*self.state().qvel[:2]))

    def moves(self):
        return self.speed() > 0.8

    def place(self):
        return self.state().qpos[:2].copy()

    def run_for(self, seconds):
        """Wait until so much simulation time has gone by."""
        until = self.server.now_ns(seconds)
        wait_until(lambda: self.server.now_ns() >= until)

    def moved_from(self, place, after):
        """Return how far it has gone when so much simulation time has gone by."""
        self.run_for(after)
        return float(np.linalg.norm(self.place() - place))


@pytest.fixture(scope='module')
def lasting_scene(lasting_simulation):
    return Scene(*lasting_simulation(ServerProgram('--cameras=off'), cmd_vel_type='twist'))


@pytest.fixture
def scene(lasting_scene):
    """Return the scene that these tests share, with the robot at rest where it began."""
    lasting_scene.client.reset()
    lasting_scene.run_for(0.5)  # it drops onto its wheels
    wait_until(lambda: lasting_scene.speed() < 0.005)
    return lasting_scene


def test_commands_sent_during_a_pause_move_nothing_after_it_unless_repeated(scene):
    place = scene.place()
    scene.client.set_paused(True)
    scene.drive(0.4)
    time.sleep(GONE)
    scene.client.set_paused(False)
    assert scene.moved_from(place, after=1.5) < AT_REST
    scene.client.set_paused(True)
    with scene.driving():
        time.sleep(GONE)
        scene.client.set_paused(False)
        wait_until(scene.moves)


def test_commands_queued_while_the_bridge_was_stopped_move_nothing(scene):
    place = scene.place()
    with scene.bridge.stopped():
        scene.drive(0.4)
        time.sleep(GONE)
    # A reliable publisher sends again what was not acknowledged, every three seconds.
    assert scene.moved_from(place, after=4.5) < AT_REST
    # The last command of a queue counts if it is fresh; a sender that continues keeps driving.
    with scene.bridge.stopped(), scene.driving():
        time.sleep(1.0)
    with scene.driving():
        wait_until(scene.moves)


def test_commands_queued_while_the_server_was_stopped_move_nothing(scene):
    place = scene.place()
    with scene.server.stopped():
        scene.drive(1.0)
        time.sleep(GONE)
    assert scene.moved_from(place, after=1.5) < AT_REST
    with scene.driving():
        wait_until(scene.moves)
        with scene.server.stopped():
            time.sleep(1.0)
        wait_until(scene.moves)
        stop_for_a_while(scene.server.process)
    # It was under way when its server was stopped: now it brakes.
    time.sleep(GONE)
    scene.server.process.send_signal(signal.SIGCONT)
    place = scene.place()
    # 1 m/s is lost at 3 m/s^2 within 0.17 m; cmd_vel_timeout would add 0.5 m.
    assert scene.moved_from(place, after=1.5) < 0.3 and scene.speed() < 0.02


def test_a_bridge_that_ends_while_it_drives_never_waits_for_a_server(scene, capfd):
    """The server is stopped, like one that ends; the bridge ends at once, silently."""
    scene.drive(0.5)
    with scene.server.stopped():
        capfd.readouterr()
        scene.bridge.process.send_signal(signal.SIGINT)
        assert scene.bridge.process.wait(40) == 0
    assert 'refused' not in capfd.readouterr().err
