# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a sidecar that are about pictures: `cameras`, `global_cameras`, `rendering`."""

from __future__ import annotations

from urlab_ros_bridge.sim.specs import CameraSpec
from urlab_ros_bridge.sim.specs import RenderSpec
from urlab_ros_bridge.sim.yaml_fields import Field

CAMERA_MODES = ('real', 'depth', 'semantic', 'instance')
MAX_LATENCY = 10.0  # s; every state on its way is held in memory
MAX_SAMPLES = 16


def cameras(field: Field | None) -> dict[str, CameraSpec]:
    """Read a mapping of cameras by name."""
    return {name: _camera(item) for name, item in (field.mapping() if field else {}).items()}


def rendering(field: Field | None) -> RenderSpec:
    """Read how much work goes into pictures."""
    fields = field.mapping('shadows', 'reflections', 'samples', 'sites') if field else {}
    present = {key: item for key, item in fields.items() if item.value is not None}
    found: dict = {
        key: _flag(present[key]) for key in ('shadows', 'reflections', 'sites') if key in present
    }
    if 'samples' in present:
        found['samples'] = present['samples'].integer(0, MAX_SAMPLES)
    return RenderSpec(**found)


def _flag(item: Field) -> bool:
    if not isinstance(item.value, bool):
        raise item.fail(f'must be true or false, not {item.value!r:.60}')
    return item.value


def _camera(item: Field) -> CameraSpec:
    fields = item.mapping('mode', 'resolution', 'rate', 'fovy', 'latency', 'jitter', 'seed')
    found: dict = {}
    if 'mode' in fields:
        found['mode'] = fields['mode'].choice(CAMERA_MODES)
    if 'resolution' in fields:
        sides = [side.integer(1, 8192) for side in fields['resolution'].items()]
        if len(sides) != 2:
            raise fields['resolution'].fail(f'must be [width, height], not {sides}')
        found['resolution'] = tuple(sides)
    if 'rate' in fields:
        found['rate'] = fields['rate'].number(high=1000.0, above=0.0)
    if 'fovy' in fields:
        found['fovy'] = fields['fovy'].number(high=179.0, above=0.0)
    for delay in ('latency', 'jitter'):
        if delay in fields:
            found[delay] = fields[delay].number(0.0, MAX_LATENCY)
    if 'seed' in fields:
        found['seed'] = fields['seed'].integer(0, 2**31 - 1)
    return CameraSpec(**found)
