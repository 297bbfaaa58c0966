# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rendering quality: what a frame may cost.

On a graphics card the MJCF's own quality holds.  Software rendering draws plainly unless the
sidecar asks for more: shadows alone would triple the time of a frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from urlab_ros_bridge.sim.model.sidecar.specs import RenderSpec

SOFTWARE_RENDERERS = ('llvmpipe', 'softpipe', 'swrast', 'software rasterizer', 'swr')
# Half of MuJoCo's defaults: vertices cost as much as pixels in software.
SOFTWARE_SLICES, SOFTWARE_STACKS = 16, 10


@dataclass(frozen=True, slots=True)
class Quality:
    """
    Settings of one renderer.

    :ivar samples: multisampling, 0 is off.
    :ivar slices: of cylinders and spheres around their axis, `stacks` along it; 0 = as in the
        model.
    """

    shadows: bool
    reflections: bool
    samples: int
    slices: int
    stacks: int
    sites: bool

    def prepare(self, model: mujoco.MjModel) -> None:
        """Write the settings into the renderer's own model, before its context is made."""
        settings = model.vis.quality
        settings.offsamples = self.samples
        if not self.shadows:
            settings.shadowsize = 0
        if self.slices:
            settings.numslices = min(settings.numslices, self.slices)
            settings.numstacks = min(settings.numstacks, self.stacks)


def is_software(renderer: str) -> bool:
    """Return whether OpenGL's renderer name is that of a software renderer."""
    return any(name in renderer.lower() for name in SOFTWARE_RENDERERS)


def choose_quality(model: mujoco.MjModel, spec: RenderSpec, renderer: str) -> Quality:
    """Return the settings that hold: the sidecar's, else those fit for the renderer."""
    software = is_software(renderer)
    samples = 0 if software else int(model.vis.quality.offsamples)
    return Quality(
        shadows=not software if spec.shadows is None else spec.shadows,
        reflections=not software if spec.reflections is None else spec.reflections,
        samples=samples if spec.samples is None else spec.samples,
        slices=SOFTWARE_SLICES if software else 0,
        stacks=SOFTWARE_STACKS if software else 0,
        sites=spec.sites,
    )


__all__ = ['Quality', 'choose_quality', 'is_software']
