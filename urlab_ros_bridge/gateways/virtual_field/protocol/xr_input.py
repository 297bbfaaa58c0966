# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The input of headsets and controllers: poses, sticks, buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import ORIGIN
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import Quaternion
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import Vector

HANDS = ('left', 'right')
MAX_CONTROLLERS = 16
MAX_BUTTONS = 32


@dataclass(frozen=True, slots=True)
class XrPose:
    """A pose in the world of the page: metres, y up, rotation x y z w."""

    translation: Vector
    rotation: Quaternion


@dataclass(frozen=True, slots=True)
class XrController:
    """
    One controller.

    :ivar linear, angular: its velocity, m/s and rad/s.
    :ivar grip, trigger: from 0 to 1; `joystick` from -1 to 1, to the right and towards the user.
    """

    pose: XrPose
    linear: Vector = ORIGIN
    angular: Vector = ORIGIN
    grip: float = 0.0
    trigger: float = 0.0
    joystick: tuple[float, float] = (0.0, 0.0)
    buttons: Mapping[str, bool] = field(default_factory=dict)

    def pressed(self, button: str) -> bool:
        """Return whether a button is held."""
        return self.buttons.get(button, False)


@dataclass(frozen=True, slots=True)
class XrInput:
    """
    One sample.

    :ivar timestamp: seconds of the client's clock.
    :ivar controllers: by hand, ``left`` and ``right``; others are ignored.
    """

    timestamp: float
    head: XrPose
    controllers: Mapping[str, XrController]


def read_xr_input(payload: dict[str, Any]) -> XrInput:
    """
    Read the payload of an xr_input.

    Controllers may be absent.

    :raises BadMessage: for fields that are missing, of the wrong kind or size.
    """
    fields = PayloadFields(payload)
    timestamp = fields.number('timestamp', low=-1e15, high=1e15)
    head = _pose(fields.object('head_pose'))
    hands = fields.object('controllers')
    if len(hands.values) > MAX_CONTROLLERS:
        raise BadMessage(
            f'controllers has {len(hands.values)} entries, more than {MAX_CONTROLLERS}'
        )
    controllers = {hand: _controller(hands.object(hand)) for hand in HANDS if hand in hands}
    return XrInput(timestamp, head, controllers)


def _controller(fields: PayloadFields) -> XrController:
    pose = _pose(fields.object('pose'))
    linear = angular = ORIGIN
    if 'velocity' in fields:
        velocity = fields.object('velocity')
        linear, angular = velocity.vector('linear', 3), velocity.vector('angular', 3)
    x, y = fields.vector('joystick', 2, (0.0, 0.0))
    buttons = fields.object('buttons') if 'buttons' in fields else PayloadFields({})
    if len(buttons.values) > MAX_BUTTONS:
        raise BadMessage(f'{fields.where("buttons")} has more than {MAX_BUTTONS} entries')
    for name, value in buttons.values.items():
        if not isinstance(value, bool):
            raise BadMessage(
                f'{buttons.where(name[:32])} must be true or false, got {shown(value)}'
            )
    return XrController(
        pose,
        linear,
        angular,
        _share(fields.number('grip', 0.0)),
        _share(fields.number('trigger', 0.0)),
        (_share(x, -1.0), _share(y, -1.0)),
        dict(buttons.values),
    )


def _pose(fields: PayloadFields) -> XrPose:
    return XrPose(fields.vector('translation', 3), fields.quaternion('rotation_xyzw'))


def _share(value: float, low: float = 0.0) -> float:
    """Clamp a value that a worn stick reports beyond its range."""
    return min(1.0, max(low, value))


__all__ = ['HANDS', 'XrController', 'XrInput', 'XrPose', 'read_xr_input']
