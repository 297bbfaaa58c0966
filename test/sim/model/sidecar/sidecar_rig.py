# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sidecars in a folder where the files that they name exist."""

import yaml

from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


def load(folder, content):
    """Read text, or what is to be the YAML's content, as the sidecar depot.yaml of a folder."""
    path = folder / 'depot.yaml'
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_sidecar(path)
