# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Flat colours for semantic and instance cameras.

An instance is an articulation, any other top-level body with all below it, or a geom that stands
directly in the world.  A class is an instance without the running number at its end: `crate_1` and
`crate_2` are both `crate`.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
import re
import zlib

import mujoco
import numpy as np

from urlab_ros_bridge.sim.cameras.catalog import SEMANTIC

BACKGROUND = 'background'
OPAQUE = 0xFF000000
_NUMBER = re.compile(r'[_.-]?\d+$')
_KINDS = {
    mujoco.mjtObj.mjOBJ_SITE: 'site',
    mujoco.mjtObj.mjOBJ_TENDON: 'tendon',
    mujoco.mjtObj.mjOBJ_FLEX: 'flex',
    mujoco.mjtObj.mjOBJ_SKIN: 'skin',
}
Key = tuple[int, int]  # mjtObj, id


@dataclass(frozen=True, slots=True)
class LabelMap:
    """
    The colours of labels.

    :ivar colors: name -> (b, g, r), background included.
    :ivar words: (object type, id) -> pixel, a little-endian word of b, g, r and alpha 255.
    """

    colors: dict[str, tuple[int, int, int]]
    words: dict[Key, int]

    def table(self, scene: mujoco.MjvScene) -> np.ndarray:
        """Return pixels by segmentation id + 1, uint32 of shape (n,): 0 is the background."""
        count = scene.ngeom
        table = np.full(count + 1, OPAQUE, np.uint32)
        for geom in scene.geoms[:count]:
            if geom.segid >= 0:
                table[geom.segid + 1] = self.words.get((geom.objtype, geom.objid), OPAQUE)
        return table


def label_map(model: mujoco.MjModel, prefixes: list[str], mode: str) -> LabelMap:
    """
    Return the labels of a world.

    :param prefixes: of the articulations.
    :param mode: ``semantic`` or ``instance``.
    """
    names: dict[Key, str] = {}
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        names[int(mujoco.mjtObj.mjOBJ_GEOM), geom] = (
            _instance(model, body, prefixes) if body else model.geom(geom).name or f'geom_{geom}'
        )
    for site in range(model.nsite):
        body = int(model.site_bodyid[site])
        names[int(mujoco.mjtObj.mjOBJ_SITE), site] = _instance(model, body, prefixes)
    for kind, count in (
        (mujoco.mjtObj.mjOBJ_TENDON, model.ntendon),
        (mujoco.mjtObj.mjOBJ_FLEX, model.nflex),
        (mujoco.mjtObj.mjOBJ_SKIN, model.nskin),
    ):
        for number in range(count):
            name = mujoco.mj_id2name(model, kind, number) or f'{_KINDS[kind]}_{number}'
            names[int(kind), number] = _owner(name, prefixes) or name
    if mode == SEMANTIC:
        names = {key: class_of(name) for key, name in names.items()}
    colors = palette(sorted(set(names.values()) - {BACKGROUND}))
    words = {key: _word(colors[name]) for key, name in names.items()}
    return LabelMap(colors, words)


def class_of(name: str) -> str:
    """
    Return the class of an instance.

    >>> class_of('crate_12'), class_of('wall'), class_of('7')
    ('crate', 'wall', '7')
    """
    return _NUMBER.sub('', name) or name


def palette(names: list[str]) -> dict[str, tuple[int, int, int]]:
    """Return a distinct (b, g, r) for each name, the same wherever the name is used."""
    colors = {BACKGROUND: (0, 0, 0)}
    taken = {(0, 0, 0)}
    for name in names:
        seed = zlib.crc32(name.encode())
        color = _color(seed)
        while color in taken:
            seed = (seed * 1664525 + 1013904223) % 2**32
            color = _color(seed)
        taken.add(color)
        colors[name] = color
    return colors


def _color(seed: int) -> tuple[int, int, int]:
    hue, saturation, value = seed % 360, seed // 360 % 4, seed // 1440 % 4
    rgb = colorsys.hsv_to_rgb(hue / 360, 0.55 + 0.15 * saturation, 0.55 + 0.15 * value)
    red, green, blue = (round(part * 255) for part in rgb)
    return blue, green, red


def _word(color: tuple[int, int, int]) -> int:
    blue, green, red = color
    return blue | green << 8 | red << 16 | OPAQUE


def _instance(model: mujoco.MjModel, body: int, prefixes: list[str]) -> str:
    name = model.body(body).name
    owner = _owner(name, prefixes)
    if owner or not body:
        return owner or 'world'
    while model.body_parentid[body]:
        body = int(model.body_parentid[body])
    name = model.body(body).name
    return _owner(name, prefixes) or name or f'body_{body}'


def _owner(name: str, prefixes: list[str]) -> str:
    return next((prefix for prefix in prefixes if name.startswith(f'{prefix}_')), '')
