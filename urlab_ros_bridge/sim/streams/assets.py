# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The model as XML with its files: what a client needs to reload it without this machine.

Protocol Reference, "include_assets": `mjcf_compiled` names files by bare names, `vfs_assets` holds
them under these names.  Two files of one bare name in different folders get different names.
"""

from __future__ import annotations

from collections.abc import Iterator
import logging
import os
from pathlib import Path
from typing import Any
import warnings
from xml.etree import ElementTree

import mujoco

from urlab_ros_bridge.sim.model.client_models import words
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.names import numbered

# XML element -> (object type, attribute of the model with the path of its file).
_KINDS = {
    'mesh': (mujoco.mjtObj.mjOBJ_MESH, 'mesh_pathadr'),
    'hfield': (mujoco.mjtObj.mjOBJ_HFIELD, 'hfield_pathadr'),
    'skin': (mujoco.mjtObj.mjOBJ_SKIN, 'skin_pathadr'),
    'texture': (mujoco.mjtObj.mjOBJ_TEXTURE, 'tex_pathadr'),
}
_LOG = logging.getLogger(__name__)


def reloadable_model(simulation: Simulation) -> dict[str, Any]:
    """
    Return the fields `mjcf_compiled` and `vfs_assets` of a hello_ok.

    None of them when MuJoCo cannot write the model: it opens the files again for that, and a
    hello never fails.
    """

    def make() -> dict[str, Any]:
        try:
            xml, files = export(simulation.world.source, simulation.world.model)
        except ValueError as error:
            _LOG.error('cannot write the model as XML: %s', error)
            return {}
        return {'mjcf_compiled': xml, 'vfs_assets': files}

    return simulation.cached('assets', make)


def export(spec: mujoco.MjSpec, model: mujoco.MjModel) -> tuple[str, dict[str, bytes]]:
    """
    Return a model as XML and the files that the XML names, each by its bare name.

    :param spec: what `model` was compiled from; it is not changed.
    :param model: as it is now: options and values that were changed since come along, with the
        six digits that MJCF is written in.
    :raises ValueError: with MuJoCo's own message when it cannot write the model.
    """
    root = ElementTree.fromstring(_current_xml(spec, model))
    for compiler in root.iter('compiler'):
        for folder in words.FOLDERS:
            compiler.attrib.pop(folder, None)
    box = _FilesByName(dict(spec.assets))
    for element, attribute, path in _references(root, model):
        element.set(attribute, box.add(path))
    return ElementTree.tostring(root, encoding='unicode'), box.files


def _current_xml(spec: mujoco.MjSpec, model: mujoco.MjModel) -> str:
    if not hasattr(spec, 'copy_back'):  # before MuJoCo 4
        _LOG.warning('mjcf_compiled lacks changes since the model was compiled; use MuJoCo 4')
        return spec.to_xml()
    copy = spec.copy()
    with warnings.catch_warnings():
        # Both compile, and the compiler's warnings were logged when the world was loaded.
        warnings.simplefilter('ignore')
        copy.copy_back(model)
        return copy.to_xml()


def _references(
    root: ElementTree.Element, model: mujoco.MjModel
) -> Iterator[tuple[ElementTree.Element, str, str]]:
    """Yield (element, attribute, path on disk) of every file that the XML names."""
    # Not iter(): a geom of a default class may be called mesh, assets are in <asset> only.
    for section in (*root.iter('asset'), *root.iter('deformable')):
        for element in section:
            kind = _KINDS.get(element.tag)
            if kind is None:
                continue
            written = element.get('file')
            if written:
                yield element, 'file', _path(model, element, written, *kind)
            for side in words.SIDES:
                written = element.get(side)
                if written:
                    yield element, side, written


def _path(
    model: mujoco.MjModel,
    element: ElementTree.Element,
    written: str,
    kind: mujoco.mjtObj,
    addresses: str,
) -> str:
    """Return the path of a file that was read, as it was written where it is not known."""
    index = mujoco.mj_name2id(model, kind, element.get('name') or Path(written).stem)
    starts = [int(getattr(model, addresses)[index])] if index >= 0 else getattr(model, addresses)
    for start in starts:
        if start >= 0:
            path = model.paths[start : model.paths.index(b'\0', start)].decode()
            if Path(path).name == Path(written).name:
                return path
    return written


class _FilesByName:
    """Files by bare name; names differ in more than case, for MuJoCo's file system."""

    def __init__(self, memory: dict[str, bytes]) -> None:
        self.files: dict[str, bytes] = {}
        self._memory = memory
        self._names: dict[str, str] = {}
        self._taken: dict[str, bytes] = {}

    def add(self, path: str) -> str:
        """Put a file in, if it is not there yet, and return its name."""
        name = self._names.get(path)
        if name is not None:
            return name
        content = self._read(path)
        name = self._free_name(Path(path).name, content)
        self._names[path] = name
        self.files[name] = self._taken[name.lower()] = content
        return name

    def _read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except OSError as error:
            for name in (path, Path(path).name):
                if name in self._memory:
                    return bytes(self._memory[name])
            raise ValueError(f'{path}: {error.strerror}') from error

    def _free_name(self, bare: str, content: bytes) -> str:
        stem, suffix = os.path.splitext(bare)
        names = (f'{name}{suffix}' for name in numbered(stem))
        return next(name for name in names if self._taken.get(name.lower(), content) == content)
