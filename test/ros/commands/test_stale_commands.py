# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are too old by the wall clock, with clocks and a server that are made up."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist  # noqa: E402
from geometry_msgs.msg import Vector3  # noqa: E402
from geometry_msgs.msg import Wrench  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from urlab_ros_bridge.client.errors import StaleCommand  # noqa: E402
from urlab_ros_bridge.client.ops import WallAge  # noqa: E402
from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter  # noqa: E402
from urlab_ros_bridge.ros.commands.admission.rejections import Rejections  # noqa: E402
from urlab_ros_bridge.ros.commands.gate import AnswerGate  # noqa: E402
from urlab_ros_bridge.ros.commands.joint_commands import JointCommands  # noqa: E402
from urlab_ros_bridge.ros.commands.path import CommandPath  # noqa: E402
from urlab_ros_bridge.ros.commands.sender import CommandSender  # noqa: E402
from urlab_ros_bridge.ros.commands.setpoints import Setpoints  # noqa: E402
from urlab_ros_bridge.ros.commands.velocity import VelocityCommands  # noqa: E402
from urlab_ros_bridge.ros.commands.wrench_command import WrenchCommands  # noqa: E402
from urlab_ros_bridge.ros.link.connection import ServerLink  # noqa: E402
from urlab_ros_bridge.ros.plan.plan import PlannedActuator  # noqa: E402
from urlab_ros_bridge.ros.plan.plan import RobotPlan  # noqa: E402
from urlab_ros_bridge.ros.program.features import Settings  # noqa: E402
from urlab_ros_bridge.ros.rclpy_tools.message_info import message_in  # noqa: E402
from urlab_ros_bridge.ros.rclpy_tools.message_info import WithMessageInfo  # noqa: E402

STALE = 'it was published long ago'
EXTENSIONS = ('twist_timeout', 'setpoints', 'wall_timeout', 'apply_wrench')


class Robot:
    """A robot with a base, a wheel, an arm, and a server that writes down what it is asked."""

    def __init__(self, extensions=EXTENSIONS, **settings):
        self.now = 100.0
        self.asked = []
        self.stale = False
        self.settings = Settings(**settings)
        self.timeline = SimpleNamespace(stamp_ns=10**9, moved=self.now, resets=None)
        self.rejections = Rejections(lambda severity, text: None)
        self.link = SimpleNamespace(
            state=SimpleNamespace(open=True, mode='live'),
            has=lambda name: name in extensions,
            lockstep=False,
            commands=self,
            _stream=SimpleNamespace(counters=SimpleNamespace(wall_ns=77)),
        )
        self.link.wall_age = lambda timeout: ServerLink.wall_age(self.link, timeout)
        sender = SimpleNamespace(put=lambda key, action, *_: self.run(action))
        arbiter = Arbiter(self.settings)
        path = CommandPath(
            self.settings,
            self.timeline,
            AnswerGate(),
            self.rejections,
            sender,
            self.link,
            self.clock,
        )
        self.arbiter = arbiter
        self.velocity = VelocityCommands('bot', 'cmd_vel', path, arbiter)
        plan = RobotPlan(
            prefix='bot',
            namespace='',
            tf_namespace='',
            frames=SimpleNamespace(base='base_link'),
            joints=('arm', 'wheel'),
            actuators=(
                PlannedActuator('arm', 'position', 'arm'),
                PlannedActuator('wheel', 'velocity', 'wheel'),
            ),
        )
        self.wrenches = WrenchCommands(plan, 'wrench_command', path, arbiter)
        self.setpoints = Setpoints(plan, 'joint_commands', path)
        self.joints = JointCommands('joint_commands', path, self.setpoints, arbiter)

    def clock(self):
        return self.now

    def run(self, action):
        try:
            action()
        except StaleCommand as error:
            self.rejections.add('server', error)

    def wait(self, seconds):
        """Let wall time go by while simulation time is frozen; ticks come all the same."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.tick()

    def go_on(self, seconds=0.01):
        self.now += seconds
        self.timeline.stamp_ns += round(seconds * 1e9)
        self.timeline.moved = self.now
        self.tick()

    def tick(self):
        for each in (self.velocity, self.wrenches, self.setpoints):
            each.tick(self.timeline.stamp_ns)

    def set_twist(self, prefix, linear, angular, timeout=None, wall=None, resets=None):
        self.asked.append(('twist', linear[0], timeout, wall))

    def apply_wrench(self, body, force, torque, duration, *, wall=None, **rest):
        self.asked.append(('wrench', force[0], duration, wall))

    def set_setpoints(self, prefix, values, timeout, wall=None):
        if self.stale and wall is not None:
            raise StaleCommand('stale_command', 'too old', 'set_setpoints')
        self.asked.append(('setpoints', dict(values), timeout, wall))


def twist(speed):
    return Twist(linear=Vector3(x=speed))


def push(force):
    return WrenchStamped(wrench=Wrench(force=Vector3(x=force)))


def joints(**values):
    message = JointState(name=list(values))
    message.position = [values.get(name, 0.0) for name in values]
    message.velocity = list(message.position)
    return message


def test_what_moves_is_refused_when_it_is_stale_and_what_stops_never():
    robot = Robot()
    robot.velocity.receive(twist(1.0), STALE)
    robot.wrenches.receive(push(1.0), STALE)
    robot.joints.receive(joints(wheel=1.0), STALE)
    assert not robot.asked
    assert robot.rejections.last == dict.fromkeys(
        ('cmd_vel', 'wrench_command', 'joint_commands'), STALE
    )
    robot.velocity.receive(twist(0.0), STALE)
    robot.wrenches.receive(push(0.0), STALE)
    robot.joints.receive(joints(wheel=0.0), STALE)
    robot.joints.receive(joints(arm=0.7), STALE)
    assert [kind for kind, *_ in robot.asked] == ['twist', 'wrench', 'setpoints', 'setpoints']


def test_the_server_is_told_how_old_a_command_may_become():
    robot = Robot(cmd_vel_timeout=0.8, command_max_age=0.6)
    robot.velocity.receive(twist(1.0))
    robot.velocity.receive(twist(0.0))
    robot.wrenches.receive(push(1.0))
    robot.joints.receive(joints(wheel=1.0))
    assert [asked[-1] for asked in robot.asked] == [
        WallAge(0.8, 77),
        None,
        WallAge(0.6, 77),
        WallAge(1.0, 77),
    ]


@pytest.mark.parametrize('extensions', [EXTENSIONS, ()])
def test_in_a_pause_a_velocity_lives_as_long_as_it_is_repeated(extensions):
    robot = Robot(extensions)
    for _ in range(10):
        robot.velocity.receive(twist(1.0))
        robot.wait(0.4)
    assert all(asked[1] == 1.0 for asked in robot.asked)
    robot.wait(0.4)
    assert [asked[1] for asked in robot.asked if asked[0] == 'twist'] == [1.0] * 10 + [0.0]
    robot.wait(5.0)
    assert len(robot.asked) == 11


def test_time_that_runs_does_not_count_twice():
    robot = Robot(cmd_vel_timeout=0.5)
    robot.velocity.receive(twist(1.0))
    for _ in range(40):  # slow motion: 40 s of wall time for 0.4 s
        robot.now += 1.0
        robot.go_on(0.01)
    assert [asked[1] for asked in robot.asked] == [1.0]


def test_a_wrench_and_a_speed_that_were_given_in_a_pause_are_withdrawn_and_a_position_is_not():
    robot = Robot()
    robot.wait(1.0)
    robot.wrenches.receive(push(5.0))
    robot.joints.receive(joints(wheel=2.0))
    robot.joints.receive(joints(arm=0.7))
    robot.wait(0.4)
    assert not robot.rejections.counts
    robot.wait(5.0)
    assert ('wrench', 0.0, 0.1, None) in robot.asked
    assert robot.setpoints.last(1) == 0.0 and robot.setpoints.last(0) == 0.7
    assert 'withdrawn' in robot.rejections.last['wrench_command']
    assert 'wheel withdrawn' in robot.rejections.last['joint_commands']
    count = len(robot.asked)
    robot.go_on()
    assert len(robot.asked) == count


def test_what_was_in_force_before_a_pause_is_so_after_it():
    robot = Robot()
    robot.joints.receive(joints(wheel=2.0))
    robot.go_on()
    robot.wait(10.0)
    robot.go_on()
    assert robot.setpoints.last(1) == 2.0
    # It was renewed all the time, so that the server knows that the bridge lives.
    assert len(robot.asked) > 20 and all(asked[3] for asked in robot.asked)


def test_what_is_given_shortly_before_time_goes_on_stays():
    robot = Robot()
    robot.wait(3.0)
    robot.joints.receive(joints(wheel=2.0))
    robot.wrenches.receive(push(5.0))
    robot.wait(0.3)
    robot.go_on()
    robot.wait(3.0)
    assert robot.setpoints.last(1) == 2.0 and not robot.rejections.counts


def test_a_server_that_was_stopped_does_not_get_the_speed_after_it_again():
    """It was given while nothing answered, and its publisher is gone: no tick came meanwhile."""
    robot = Robot()
    robot.now += 2.0
    robot.joints.receive(joints(wheel=2.0))
    robot.now += 5.0
    robot.go_on()
    assert robot.setpoints.last(1) == 0.0
    robot.go_on(0.5)
    assert robot.asked[-1][1] == {'wheel': 0.0}


def test_a_stale_request_loses_no_position():
    robot = Robot()
    robot.stale = True
    robot.joints.receive(joints(arm=0.7, wheel=2.0))
    assert robot.asked == [('setpoints', {'arm': 0.7}, 1.0, None)]
    assert robot.rejections.counts == {'server': 1}


def test_in_lockstep_and_without_a_limit_wall_time_does_not_count():
    for robot in (Robot(), Robot(command_max_age=0.0)):
        robot.link.lockstep = robot.settings.command_max_age > 0
        robot.wait(1.0)
        if robot.link.lockstep:
            robot.velocity.receive(twist(1.0))
        robot.wrenches.receive(push(5.0))
        robot.joints.receive(joints(wheel=2.0))
        robot.wait(60.0)
        assert not robot.rejections.counts and robot.setpoints.last(1) == 2.0
        assert not [asked for asked in robot.asked if asked[1] in (0.0, {'wheel': 0.0})]
        if robot.link.lockstep:
            assert len(robot.asked) == 3 and not any(asked[-1] for asked in robot.asked)


def test_an_action_that_waited_too_long_for_the_server_is_dropped():
    now, errors, done = [0.0], [], []
    sender = CommandSender(lambda key, error: errors.append((key, str(error))), lambda: now[0])
    sender.put('moves', lambda: done.append('moves'), 0.5)
    sender.put('stops', lambda: done.append('stops'))
    sender.put('fresh', lambda: done.append('fresh'), 20.0)
    now[0] = 5.0
    sender.start()
    sender.stop()
    assert done == ['stops', 'fresh']
    assert errors == [('moves', 'dropped: it waited 4.5 s too long for the server')]


def test_what_lockstep_has_kept_for_too_long_is_stale_when_it_ends(monkeypatch):
    from urlab_ros_bridge.ros.commands import gate as module

    now, got = [0.0], []
    monkeypatch.setattr(module, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    gate = AnswerGate(lambda: 0.5)
    take = gate.wrap('/cmd_vel', Twist, lambda message, stale='': got.append((message, stale)))
    gate.arm(['/cmd_vel'])
    take('old')
    now[0] = 3.0
    take('new', STALE)  # an answer, whatever the wall clock says
    gate.disarm()
    assert got == [('old', 'lockstep delayed it by 3.0 s'), ('new', '')]
    take('passes', STALE)
    assert got[-1] == ('passes', STALE)


def test_the_callback_takes_message_and_info_from_every_executor():
    import inspect

    got = []
    callback = WithMessageInfo(lambda message, info: got.append((message, info)))
    # What rclpy looks at.
    with pytest.raises(TypeError):
        inspect.signature(callback).bind(object())
    inspect.signature(callback).bind(object(), object())
    callback('message', {'a': 1})
    callback(('message', {'a': 1}))
    assert got == [('message', {'a': 1})] * 2
    assert message_in(('m',)) == message_in(('m', {})) == message_in((('m', {}),)) == 'm'


def test_a_velocity_that_an_e_stop_has_overtaken_stops_the_robot(monkeypatch):
    robot, claim = Robot(), Arbiter.claim

    def stopped_after_the_claim(self, *arguments):
        claim(self, *arguments)
        self.stop('the e-stop is engaged')
        robot.velocity.halt()

    monkeypatch.setattr(Arbiter, 'claim', stopped_after_the_claim)
    robot.velocity.receive(twist(1.0))
    assert robot.asked[-1][:2] == ('twist', 0.0)
