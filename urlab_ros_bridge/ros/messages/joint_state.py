# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states: one message a tick with all joints."""

from __future__ import annotations

import array
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def joint_state_to_ros(
    stamp_ns: int,
    frame_id: str,
    names: Sequence[str],
    position: Values,
    velocity: Values,
    effort: Values | None = None,
) -> JointState:
    """
    Return the state of n joints.

    :param position: shape (n,), rad or m.
    :param velocity: shape (n,), rad/s or m/s.
    :param effort: shape (n,), torque (N m) or force (N) of the actuators; None: not known.
    :raises WrongLength: when one of them has another length.
    """
    message = JointState(
        header=header_to_ros(stamp_ns, frame_id),
        name=list(names),
        position=_column(position, len(names)),
        velocity=_column(velocity, len(names)),
    )
    if effort is not None:
        message.effort = _column(effort, len(names))
    return message


def _column(values: Values, count: int) -> array.array:
    if len(values) != count:
        raise WrongLength(count, len(values))
    return array.array('d', np.asarray(values, np.float64).tobytes())


class JointStateTemplate(RosMessageTemplate):
    """sensor_msgs/JointState of a fixed set of joints."""

    def __init__(self, names: Sequence[str], frame_id: str = '', *, effort: bool = True) -> None:
        """
        Fix the layout.

        :param effort: whether efforts are known; if not, the field stays empty.
        """
        self._frame_id = frame_id
        self._names = list(names)
        self._count = len(self._names)
        self._has_effort = effort
        zeros = [0.0] * self._count
        super().__init__(self.message(0, zeros, zeros, zeros))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._position = template.array('position')
        self._velocity = template.array('velocity')
        self._effort = template.array('effort')

    def message(
        self, stamp_ns: int, position: Values, velocity: Values, effort: Values | None = None
    ) -> JointState:
        if self._has_effort and effort is None:
            raise WrongLength(self._count, 0)
        return joint_state_to_ros(
            stamp_ns,
            self._frame_id,
            self._names,
            position,
            velocity,
            effort if self._has_effort else None,
        )

    def update(
        self, stamp_ns: int, position: Values, velocity: Values, effort: Values | None = None
    ) -> bytes:
        """
        Serialise.

        :param effort: not looked at when the template has none.
        :raises WrongLength: when an argument has not one value for each joint.
        """
        # numpy would stretch an array of length one over all joints.
        count = self._count
        if len(position) != count or len(velocity) != count:
            raise WrongLength(count, len(velocity if len(position) == count else position))
        if self._has_effort:
            if effort is None or len(effort) != count:
                raise WrongLength(count, 0 if effort is None else len(effort))
            self._effort[...] = effort
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._position[...] = position
        self._velocity[...] = velocity
        return self._to_bytes()
