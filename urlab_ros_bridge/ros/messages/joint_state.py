# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states: one message a tick with all joints."""

from __future__ import annotations

from collections.abc import Sequence

from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength

_COLUMNS = ('position', 'velocity', 'effort')


class JointStateTemplate(RosMessageTemplate):
    """sensor_msgs/JointState of a fixed set of joints."""

    def __init__(self, names: Sequence[str]) -> None:
        zeros = [0.0] * len(names)
        super().__init__(JointState(name=list(names), **dict.fromkeys(_COLUMNS, zeros)))
        self._count = len(names)
        self._columns = [self._template.array(name) for name in _COLUMNS]

    def update(self, stamp_ns: int, position: Values, velocity: Values, effort: Values) -> bytes:
        """
        Return the serialised message.

        :param position: shape (n,), rad or m.
        :param velocity: shape (n,), rad/s or m/s.
        :param effort: shape (n,), N m or N; NaN: not known.
        :raises WrongLength: when one of them has not one value for each joint.
        """
        for column, values in zip(self._columns, (position, velocity, effort), strict=True):
            # numpy would stretch an array of length one over all joints.
            if len(values) != self._count:
                raise WrongLength(self._count, len(values))
            column[...] = values
        return self._stamped(stamp_ns)
