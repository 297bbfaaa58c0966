# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `noise` of an articulation in a sidecar."""

from __future__ import annotations

from urlab_ros_bridge.sim.specs import NoiseSpec
from urlab_ros_bridge.sim.yaml_fields import Field

KEYS = ('stddev', 'relative', 'bias', 'walk', 'resolution', 'dropout')


def noises(field: Field | None) -> dict[str, NoiseSpec]:
    """Read {sensor: {stddev, relative, bias, walk, resolution, dropout}}; all are 0 by default."""
    return {name: _noise(item) for name, item in (field.mapping() if field else {}).items()}


def _noise(item: Field) -> NoiseSpec:
    fields = item.mapping(*KEYS)
    return NoiseSpec(
        **{
            key: value.number(0.0, 1.0) if key == 'dropout' else value.number(0.0)
            for key, value in fields.items()
        }
    )


__all__ = ['KEYS', 'noises']
