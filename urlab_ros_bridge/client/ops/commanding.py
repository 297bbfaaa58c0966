# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that act for a while of simulation time (extensions)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from urlab_ros_bridge.client.ops.wall_age import WallAge
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.session import Session

_ZERO = (0.0, 0.0, 0.0)


class CommandingOps(Session):
    """apply_wrench and set_setpoints."""

    def apply_wrench(
        self,
        body: str,
        force: Iterable[float] = _ZERO,
        torque: Iterable[float] = _ZERO,
        duration: float = 0.0,
        *,
        articulation: str | None = None,
        frame: str = 'world',
        name: str = '',
        wall: WallAge | None = None,
    ) -> tuple[str, float]:
        """
        Push a body at its centre of mass; return its compiled name, and the time of the end (s).

        :param body: local name in `articulation`, or the compiled name.
        :param force: N, shape (3,); `torque` N m.
        :param duration: simulated seconds, at least one step.
        :param frame: ``world`` or ``body``.
        :param name: replaces the wrench of this name on the body; without one they add up.
        :param wall: how old it may become by the wall clock; None: any age.
        """
        self.require('apply_wrench', wall_timeout=wall is not None)
        reply = self.request(
            'apply_wrench',
            body=body,
            force=[float(value) for value in force],
            torque=[float(value) for value in torque],
            duration=float(duration),
            articulation=articulation,
            frame=frame,
            name=name or None,
            **(wall.fields() if wall else {}),
        )
        return read_field(reply, 'body', str), read_field(reply, 'until', float)

    def set_setpoints(
        self,
        articulation: str,
        values: Mapping[str, float],
        timeout: float | None = None,
        wall: WallAge | None = None,
    ) -> int:
        """
        Stage setpoints by name of the actuator, without moving time; return how many.

        :param timeout: simulated seconds after which all but positions become zero.
        :param wall: how old all but positions may become by the wall clock; None: any age.
        """
        self.require('set_setpoints', wall_timeout=wall is not None)
        fields: dict[str, Any] = {
            'op': 'set_setpoints',
            'articulation': articulation,
            'values': dict(values),
        }
        if timeout is not None:  # not through request(): there `timeout` is the reply's
            fields['timeout'] = float(timeout)
        if wall is not None:
            fields |= wall.fields()
        return read_field(self._request(fields, self.timeout), 'count', int)
