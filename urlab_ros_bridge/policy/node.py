# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The managed node that runs a policy."""

from __future__ import annotations

from collections.abc import Callable
import functools
import math
from pathlib import Path
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.context import Context
from rclpy.lifecycle import LifecycleState
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import UInt64

from urlab_ros_bridge.policy.controller import PolicyController
from urlab_ros_bridge.policy.controller import PolicyPhase
from urlab_ros_bridge.policy.description import find_policy
from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.description import PolicyError
from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.inputs import BadInput
from urlab_ros_bridge.policy.inputs import Inputs
from urlab_ros_bridge.policy.model import OnnxPolicy
from urlab_ros_bridge.policy.terms import IMU
from urlab_ros_bridge.policy.terms import JOINTS
from urlab_ros_bridge.policy.terms import ODOMETRY
from urlab_ros_bridge.policy.terms import Reading
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.managed import ManagedNode
from urlab_ros_bridge.ros.rclpy_tools.twist_type import message_type
from urlab_ros_bridge.ros.rclpy_tools.twist_type import TWIST_TYPES
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.wire.stamp import NANOSECONDS

NODE_NAME = 'urlab_policy'
# File or name of the policy; type of cmd_vel (auto, twist or twist_stamped); whether readings
# between two steps are answered with the last setpoints.
PARAMETERS: dict[str, str | bool] = {'policy': '', 'cmd_vel_type': 'auto', 'answer_all': False}
WATCH_SECONDS = 0.05
REPORT_SECONDS = 1.0
WARN_SECONDS = 5.0
_SENSORS: dict[str, tuple[type, str]] = {
    JOINTS: (JointState, 'joint_states'),
    IMU: (Imu, 'imu/data'),
    ODOMETRY: (Odometry, 'odom'),
}
_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class PolicyNode(ManagedNode):
    """
    Runs one policy while it is active.

    `configure` loads description and model, `activate` starts commanding the robot, `deactivate`
    stops: the joints keep their last setpoints.
    """

    def __init__(
        self,
        *,
        context: Context | None = None,
        parameter_overrides: list[Parameter] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Start unconfigured; the parameter `policy` is a file or a bundled policy.

        :param is_stopping: returns whether the program ends, which ends a step of the model.
        """
        super().__init__(NODE_NAME, context=context, parameter_overrides=parameter_overrides)
        for name, value in PARAMETERS.items():
            self.declare_parameter(name, value)
        self._monotonic = monotonic
        self._is_stopping = is_stopping
        self._policy: _LoadedPolicy | None = None

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load description and model; log the reason of a failure."""
        kind = self.get_parameter('cmd_vel_type').value
        if kind not in TWIST_TYPES:
            self.get_logger().error(
                f'cmd_vel_type: {shown(kind)} is unknown; {hint(kind, TWIST_TYPES)}'
            )
            return TransitionCallbackReturn.FAILURE
        try:
            path = find_policy(self.get_parameter('policy').value)
            description = read_policy(path)
            model = OnnxPolicy(description, path, self._is_stopping)
        except PolicyError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._policy = _LoadedPolicy(self, path, description, model, self._monotonic)
        self.get_logger().info(f'{path.name}: observations {description.breakdown()}')
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start commanding, with a transition to the default pose."""
        if self._policy is None:
            return TransitionCallbackReturn.FAILURE
        self._policy.begin()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command nothing any more."""
        if self._policy is not None:
            self._policy.end()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the policy."""
        self.stop()
        return TransitionCallbackReturn.SUCCESS

    on_shutdown = on_error = on_cleanup

    def stop(self) -> None:
        """Command nothing any more."""
        policy, self._policy = self._policy, None
        if policy is not None:
            policy.close()


class _LoadedPolicy:
    """A policy with its topics; all in the thread of the executor."""

    def __init__(
        self,
        node: PolicyNode,
        path: Path,
        description: PolicyDescription,
        model: OnnxPolicy,
        monotonic: Callable[[], float],
    ) -> None:
        self._node = node
        self._path = path
        self._description = description
        self._monotonic = monotonic
        self._controller = PolicyController(description, model)
        self._inputs = Inputs(description)
        self._answer_all = bool(node.get_parameter('answer_all').value)
        self._active = False
        self._last_reading_ns: int | None = None
        self._problem = self._warned = ''  # since the last report, and in the log
        self._warned_at = self._late_at = -math.inf
        self._late = 0
        self._resets: int | None = None
        self._phase = PolicyPhase.WAITING
        self._reported = (0, 0)
        self._publisher = self._make_publisher()
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', qos.report())
        self._subscriptions = [self._subscribe_to(name) for name in sorted(description.needs)]
        self._subscriptions.append(
            node.create_subscription(
                message_type(node.get_parameter('cmd_vel_type').value),
                'cmd_vel',
                self._take_command,
                qos.command(),
                qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            )
        )
        self._subscriptions.append(
            node.create_subscription(UInt64, 'reset_count', self._take_reset_count, qos.latched())
        )
        # By the wall clock: it detects missing messages, including those of /clock.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = [
            node.create_timer(WATCH_SECONDS, self._check_sensors, clock=steady),
            node.create_timer(REPORT_SECONDS, self._report, clock=steady),
        ]

    def begin(self) -> None:
        """Start commanding with the next reading."""
        self._controller.reset()
        self._inputs.reset()
        self._last_reading_ns = None
        self._phase = PolicyPhase.WAITING
        self._active = True

    def end(self) -> None:
        """Stop commanding."""
        self._active = False

    def close(self) -> None:
        """Destroy all publishers, subscriptions and timers."""
        self._active = False
        for timer in self._timers:
            self._node.destroy_timer(timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_publisher(self._diagnostics)

    def _make_publisher(self) -> Any:
        kind = JointState if self._description.output == 'joint_state' else Float64MultiArray
        return self._node.create_publisher(kind, 'joint_commands', qos.command())

    def _subscribe_to(self, name: str) -> Any:
        kind, topic = _SENSORS[name]
        # Keep only the newest: a late node must not process a backlog.
        return self._node.create_subscription(
            kind,
            topic,
            functools.partial(self._receive, name),
            qos.command(),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    def _receive(self, name: str, message: Any) -> None:
        if not self._active:
            return
        repeated_ns, targets = self._inputs.repeated(name, message), self._controller.targets
        if self._answer_all and repeated_ns is not None and targets is not None:
            # Lockstep repeats an instant whose answer may be lost.
            self._publish(targets, repeated_ns)
            return
        try:
            reading = self._inputs.take(name, message)
        except BadInput as error:
            self._warn(str(error))
            return
        if reading is not None:
            self._command_robot(reading)

    def _command_robot(self, reading: Reading) -> None:
        self._last_reading_ns = self._node.get_clock().now().nanoseconds
        targets = self._controller.step(reading)
        if targets is None and self._answer_all:
            targets = self._controller.targets
        if targets is not None:
            self._publish(targets, reading.stamp_ns)
        self._log_changes()

    def _take_command(self, message: Any) -> None:
        twist = message.twist if isinstance(message, TwistStamped) else message
        velocity = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
        try:
            self._controller.command(velocity)
        except ValueError as error:
            self._warn(str(error))

    def _take_reset_count(self, message: UInt64) -> None:
        """Begin an episode when the robot was reset, also where time was kept."""
        before, self._resets = self._resets, message.data
        if before not in (None, message.data) and self._active:
            self._controller.start_episode()
            self._inputs.reset()
            self._log_changes()

    def _check_sensors(self) -> None:
        """Check whether sensor messages are missing, by ROS time, which stops in a pause."""
        if not self._active or self._last_reading_ns is None:
            return
        now = self._node.get_clock().now().nanoseconds
        silence = (now - self._last_reading_ns) / NANOSECONDS
        if silence <= self._description.observation_timeout:
            return
        targets = self._controller.stale(silence)
        if targets is not None:
            self._publish(targets, now)
        self._log_changes()

    def _publish(self, targets: np.ndarray, stamp_ns: int) -> None:
        if self._description.output == 'array':
            self._publisher.publish(Float64MultiArray(data=targets.tolist()))
            return
        message = JointState(name=list(self._description.joints), position=targets.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, NANOSECONDS)
        self._publisher.publish(message)

    def _log_changes(self) -> None:
        """Log changes of the phase, and late inference at a limited rate."""
        controller, log = self._controller, self._node.get_logger()
        if controller.phase is not self._phase:
            self._phase = controller.phase
            text = ': '.join(filter(None, (controller.phase.value, controller.why)))
            (log.error if self._phase is PolicyPhase.FAILED else log.info)(text)
        now = self._monotonic()
        if controller.late > self._late and now - self._late_at >= WARN_SECONDS:
            log.warning(
                f'inference is late: it took {controller.late_seconds * 1e3:.1f} ms, '
                f'the period is {1e3 / self._description.rate:.1f} ms '
                f'({controller.late - self._late} times since the last warning)'
            )
            self._late_at, self._late = now, controller.late

    def _warn(self, problem: str) -> None:
        now = self._monotonic()
        if problem != self._warned or now - self._warned_at >= WARN_SECONDS:
            self._node.get_logger().warning(problem)
            self._warned, self._warned_at = problem, now
        self._problem = problem

    def _report(self) -> None:
        """Publish /diagnostics."""
        controller = self._controller
        level, text = self._state()
        values = {
            'policy': str(self._path),
            'phase': controller.phase.value,
            'steps': controller.steps,
            'late steps': controller.late,
            'skipped steps': controller.skipped,
            'last inference (ms)': f'{controller.last_seconds * 1e3:.2f}',
            'period (ms)': f'{1e3 / self._description.rate:.2f}',
            'observations': self._description.breakdown(),
        }
        status = DiagnosticStatus(
            name=f'{self._node.get_fully_qualified_name().lstrip("/")}: policy',
            level=level,
            message=text,
            hardware_id='urlab',
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(message)
        self._reported = (controller.late, controller.skipped)
        self._problem = ''

    def _state(self) -> tuple[bytes, str]:
        """Return level and text of the status."""
        controller = self._controller
        if not self._active:
            return _OK, 'inactive'
        if controller.phase is PolicyPhase.FAILED:
            return _ERROR, controller.why
        if self._problem:
            return _ERROR, self._problem
        if controller.phase is PolicyPhase.WAITING:
            return _WARN, self._waiting()
        late, skipped = self._reported
        if controller.late > late:
            return _WARN, f'inference is late: {controller.late_seconds * 1e3:.1f} ms'
        if controller.skipped > skipped:
            return _WARN, 'steps are skipped: the sensors are slower than the policy'
        if controller.why:
            return _WARN, f'{controller.phase.value}: {controller.why}'
        return _OK, controller.phase.value

    def _waiting(self) -> str:
        if missing := self._inputs.missing:
            topics = ', '.join(_SENSORS[name][1] for name in missing)
            return f'waiting for {topics}'
        return (
            f'the stamps of the sensors differ ({self._inputs.stamps()}): if the sensors are not '
            'sampled together, set pairing: newest'
        )


__all__ = ['NODE_NAME', 'PARAMETERS', 'PolicyNode']
