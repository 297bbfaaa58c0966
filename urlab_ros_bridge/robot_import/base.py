# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Decide whether a robot's root link is fixed to the world."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import mujoco

from urlab_ros_bridge.robot_import.spec import StartPose

# Parts count as standing on the ground up to this part of the robot's extent above it, or 5 mm.
_LEVEL, _LEAST_LEVEL = 0.03, 0.005


def stands_free(
    robot: ElementTree.Element, model: mujoco.MjModel, pose: StartPose, has_drive: bool
) -> tuple[bool, str]:
    """
    Return whether the root link floats, with the reason.

    :param model: of the robot with its root fixed.
    :param pose: of that model.
    :param has_drive: whether the description has one.
    """
    if has_drive:
        return True, 'it has a drive'
    parts = _limbs(model)
    base = parts.pop(0)
    if not any(model.body_mass[body] for body in base):
        return False, 'the root link has no mass'
    if not parts:
        return True, 'nothing of it moves'
    heights = pose.lowest_by_body
    if not heights:
        return False, 'it has no shapes that collide'
    level = ground_level(model, pose)
    on_ground = [any(heights.get(b, level + 1) <= level for b in limb) for limb in parts]
    turning = {j.get('name') for j in robot.findall('joint') if j.get('type') == 'continuous'}
    low = [body for body, height in heights.items() if height <= level]
    if sum(_joint(model, body) in turning for body in low) >= 2:
        return True, 'it stands on wheels'
    base_touches = any(heights.get(body, level + 1) <= level for body in base)
    if sum(on_ground) >= 2 and not base_touches:
        return True, 'it stands on legs'
    return False, 'it stands on its root link' if base_touches else 'it hangs from its root link'


def ground_level(model: mujoco.MjModel, pose: StartPose) -> float:
    """Return the height (m) below which parts count as standing on the ground."""
    return pose.lowest + max(_LEAST_LEVEL, _LEVEL * float(model.stat.extent))


def _limbs(model: mujoco.MjModel) -> list[list[int]]:
    """Return the bodies of the root part, then those of every limb on it."""
    found: list[list[int]] = [[]]
    limb_of = {0: 0}
    for body in range(1, model.nbody):
        limb = limb_of[int(model.body_parentid[body])]
        if limb == 0 and model.body_jntnum[body]:
            limb = len(found)
            found.append([])
        limb_of[body] = limb
        found[limb].append(body)
    return found


def _joint(model: mujoco.MjModel, body: int) -> str:
    joint = model.body_jntadr[body]
    return str(model.joint(joint).name) if joint >= 0 else ''
