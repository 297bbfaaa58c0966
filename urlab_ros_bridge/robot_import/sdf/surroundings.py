# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a world has besides models: physics, lights, sky."""

from __future__ import annotations

from collections.abc import Sequence
import logging
import math

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.robot_import.sdf.frames import Scope
from urlab_ros_bridge.robot_import.spec import IMPRATIO
from urlab_ros_bridge.robot_import.spec import TIMESTEP

_LOG = logging.getLogger(__name__)
_STEPS = (1e-4, 5e-3)  # s; contacts of MuJoCo are unstable with longer ones
_LIGHTS = {
    'directional': mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
    'point': mujoco.mjtLightType.mjLIGHT_POINT,
    'spot': mujoco.mjtLightType.mjLIGHT_SPOT,
}
_MAX_LIGHTS = 100  # MuJoCo renders as many
_SKY = ((0.6, 0.75, 0.9), (0.95, 0.97, 1.0))  # of a world with <sky>


def empty_scene() -> mujoco.MjSpec:
    """Return a scene with the solver's settings of all imports."""
    spec = mujoco.MjSpec()
    spec.modelname = 'scene'
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = IMPRATIO
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.visual.headlight.specular = np.zeros(3)
    return spec


def add_surroundings(spec: mujoco.MjSpec, world: SdfElement, scope: Scope) -> None:
    """Add the physics, lights and sky of a world."""
    physics = next((p for p in world.all('physics') if p.get('default') in ('1', 'true')), None)
    physics = world.first('physics') if physics is None else physics
    if physics is not None:
        wanted = physics.number('max_step_size', TIMESTEP)
        spec.option.timestep = min(max(wanted, _STEPS[0]), _STEPS[1])
        if spec.option.timestep != wanted:
            _LOG.warning('max_step_size: %g s taken instead of %g s', spec.option.timestep, wanted)
    spec.option.gravity = world.numbers('gravity', [0.0, 0.0, -9.81])
    spec.option.wind = world.numbers('wind/linear_velocity', [0.0, 0.0, 0.0])
    field = world.numbers('magnetic_field', [5.5645e-6, 22.8758e-6, -42.3884e-6])
    spec.option.magnetic = field * 1e4  # T; MuJoCo's magnetometers are in gauss
    _add_sky(spec, world)
    lights = world.all('light')[:_MAX_LIGHTS]
    for light in lights:
        _add_light(spec, light, scope.pose_of(light))
    if not lights:
        spec.worldbody.add_light(
            name='sun', type=_LIGHTS['directional'], pos=(0, 0, 5), dir=(0.3, 0.4, -1)
        )


def add_overview(
    spec: mujoco.MjSpec, model: mujoco.MjModel, robots: Sequence[Sequence[float]]
) -> None:
    """
    Add a camera that sees the scene from the front left, looking down.

    :param model: compiled from the same spec.
    :param robots: positions of what is not in it, m.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    ends = model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    seen = data.geom_xpos[ends]
    reach = model.geom_rbound[ends, None]
    corners = np.vstack([seen - reach, seen + reach, *(np.array([place]) for place in robots)])
    if not len(corners):
        corners = np.zeros((1, 3))
    middle, extent = corners.mean(axis=0), float(np.ptp(corners, axis=0).max())
    distance = min(max(0.9 * extent, 2.0), 30.0)
    camera = spec.worldbody.add_camera(
        name='overview', pos=middle + np.array([distance, distance, 0.8 * distance])
    )
    camera.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    camera.alt.xyaxes = (-1.0, 1.0, 0.0, -0.4, -0.4, 1.0)


def _add_sky(spec: mujoco.MjSpec, world: SdfElement) -> None:
    scene = world.first('scene')
    ambient = [0.4, 0.4, 0.4]
    low = high = (0.7, 0.7, 0.7)
    if scene is not None:
        if scene.first('sky') is not None:
            low, high = _SKY
        elif element := scene.value('background'):
            color = np.clip(scene.parsed(element, 3, 4)[:3], 0.0, 1.0)
            low = high = tuple(color.tolist())
        if text := scene.value('ambient'):
            ambient = np.clip(scene.parsed(text, 3, 4)[:3], 0.0, 1.0).tolist()
    spec.visual.headlight.ambient = 0.6 * np.minimum(ambient, 0.5)
    spec.visual.headlight.diffuse = np.full(3, 0.15)
    spec.add_texture(
        name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=low, rgb2=high, width=256, height=1536,
    )  # fmt: skip


def _add_light(spec: mujoco.MjSpec, light: SdfElement, pose: Pose) -> None:
    kind = _LIGHTS.get(light.get('type', ''))
    if kind is None:
        raise light.failure(f'type {light.get("type")!r} is not one of {", ".join(_LIGHTS)}')
    direction = rotate(pose.orientation, light.numbers('direction', [0.0, 0.0, -1.0]).tolist())
    intensity = min(max(light.number('intensity', 1.0), 0.0), 1.0)
    name = light.get('name', '')
    made = spec.worldbody.add_light(
        name=name if spec.light(name) is None else '', type=kind, pos=pose.position, dir=direction,
        diffuse=_color(light, 'diffuse', 1.0) * intensity,
        specular=_color(light, 'specular', 0.1) * intensity,
        castshadow=light.flag('cast_shadows'),
    )  # fmt: skip
    if kind != _LIGHTS['directional']:
        attenuation = light.first('attenuation')
        if attenuation is not None:
            made.attenuation = [
                max(attenuation.number(name, default), 0.0)
                for name, default in (('constant', 1.0), ('linear', 0.0), ('quadratic', 0.0))
            ]
            made.range = max(attenuation.number('range', 10.0), 0.0)
    if kind == _LIGHTS['spot']:
        made.cutoff = min(math.degrees(light.number('spot/outer_angle', 0.8)) / 2, 90.0)
        made.exponent = max(light.number('spot/falloff', 1.0), 0.0)


def _color(light: SdfElement, name: str, default: float) -> np.ndarray:
    text = light.value(name)
    values = light.parsed(text, 3, 4)[:3] if text else np.full(3, default)
    return np.clip(values, 0.0, 1.0)
