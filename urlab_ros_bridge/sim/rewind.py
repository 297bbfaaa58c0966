# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The clock goes back to 0, and the state stays: a reset with `keep_state` (extension)."""

from __future__ import annotations

from urlab_ros_bridge.sim.engine import Engine


def rewind_clock(engine: Engine) -> None:
    """
    Set the time to 0 and count steps anew.  Needs the lock; the caller calls `settle`.

    What was commanded until some time ends: its end would lie in another stretch of time.
    """
    engine.world.data.time = 0.0
    engine.steps = 0
    engine.epoch += 1
    engine.external.expire()
    for control in engine.controls.values():
        if control.twist is not None:
            control.twist.stop(0.0)
    engine.sensing.forget_scans(0.0)
