# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Models of clients, read, checked and tried: specs that the server may compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import itertools
import math
from pathlib import Path
import tempfile
import threading
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models.document import Bundle
from urlab_ros_bridge.sim.model.client_models.document import Document
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.model.client_models.files import read_regular
from urlab_ros_bridge.sim.model.client_models.limits import CHARACTERS
from urlab_ros_bridge.sim.model.client_models.limits import Sizes
from urlab_ros_bridge.sim.model.client_models.limits import STEP_SECONDS
from urlab_ros_bridge.sim.model.client_models.trial import import_failed
from urlab_ros_bridge.sim.model.client_models.trial import Trial
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.transport.shm.directory import SessionDirectory
from urlab_ros_bridge.wire.errors import RegionUnavailable

# As a shell any mesh has an inertia.
_MESH = """<mujoco><asset><mesh name="mesh" file={} inertia="shell"/></asset><worldbody><body>
<geom type="mesh" mesh="mesh"/></body></worldbody></mujoco>"""


@dataclass(frozen=True, slots=True)
class ClientModel:
    """
    A model that has passed.

    :ivar spec: uncompiled; the files that it names are copies which only the server changes.
    :ivar urdf: it was a URDF.
    :ivar fixed: a URDF whose root is a link called world, which does not move.
    """

    spec: mujoco.MjSpec
    sizes: Sizes
    urdf: bool
    fixed: bool


class ClientModels:
    """Reads models from clients, given as text or file; one for each server."""

    def __init__(self, data: DataFolder, trial: Trial | None = None) -> None:
        self.files = ClientFiles(data)
        self._data = data
        # As files and not in memory, because MuJoCo keeps the meshes of files that are unchanged.
        self._copies: SessionDirectory | None = None
        self._trial = trial if trial is not None else Trial()
        self._lock = threading.Lock()

    def of_text(self, text: str) -> ClientModel:
        """
        Return the model that a text describes; its meshes lie in the data folder.

        :raises OpError: import_failed, missing_assets, shutting_down.
        """
        return self._passed(Document(self.files, self._data.root, False).read(text, 'xml'))

    def of_file(self, path: Path) -> ClientModel:
        """
        Return the model of a file; what it includes and names is beside it or below.

        :param path: where clients may read, without symbolic links.
        :raises OpError: path_not_readable, import_failed, missing_assets, shutting_down.
        """
        text = read_regular(path, 'path_not_readable', CHARACTERS)
        return self._passed(Document(self.files, path.parent, True).read(text, path.name))

    def mesh(self, path: Path) -> Path:
        """
        Return a copy of a mesh file that can be compiled.

        :param path: where clients may read, without symbolic links.
        :raises OpError: as `of_file` does.
        """
        from xml.sax.saxutils import quoteattr  # with it come http.client and ssl

        text = _MESH.format(quoteattr(str(path)))
        (mesh,) = self._passed(
            Document(self.files, path.parent, False).read(text, 'xml')
        ).spec.meshes
        return Path(mesh.file)

    def check_steps(
        self,
        model: mujoco.MjModel,
        state: np.ndarray,
        options: Mapping[str, Any] | None = None,
        may_diverge: bool = False,
    ) -> None:
        """
        Step a world that a client changes in the other process, before it runs here.

        :param state: mjSTATE_INTEGRATION of the world, see `integration_state`.
        :param options: fields of `model.opt` that will have other values.
        :param may_diverge: whether a state that becomes invalid is accepted.
        :raises OpError: import_failed, with the reason; shutting_down.
        """
        found = self._trial.step(model, state, options)
        if found.seconds > STEP_SECONDS:
            took = f'{found.seconds:.1f}' if math.isfinite(found.seconds) else 'many'
            raise OpError(
                'import_failed',
                f'a step would take {took} s of processor time, at most {STEP_SECONDS:g} s is '
                'allowed',
            )
        if found.diverged and not may_diverge:
            raise OpError(
                'import_failed',
                'the simulation would become unstable at once: check sizes, masses and positions',
            )

    def close(self) -> None:
        """Release the waiting threads and remove the copies: the server stops."""
        self._trial.close()
        with self._lock:
            if self._copies is not None:
                self._copies.close()
                self._copies = None

    def _passed(self, bundle: Bundle) -> ClientModel:
        sizes = self._trial.sizes(bundle)
        try:
            spec = mujoco.MjSpec.from_string(bundle.xml, include=bundle.parsed)
        except (ValueError, RuntimeError, MemoryError) as error:
            raise import_failed(error) from error
        if bundle.urdf:
            _name_meshes(spec, bundle.stems)
        try:
            kept = {name: self._keep(name, content) for name, content in bundle.compiled.items()}
        except (OSError, RegionUnavailable) as error:
            raise OpError('import_failed', f'cannot store the files: {error}') from error
        _name_files(spec, kept)
        return ClientModel(spec, sizes, bundle.urdf, bundle.fixed)

    def _keep(self, name: str, content: bytes) -> str:
        """
        Return the path of a copy of a file that clients cannot change.

        A world is compiled again at every change, from all files that it is made of.

        :param name: identifies the content: a file of this name is not written again.
        :raises OSError, RegionUnavailable: when there is no room.
        """
        with self._lock:
            if self._copies is None:
                self._copies = SessionDirectory([Path(tempfile.gettempdir())], 'models')
            path = self._copies.path / name
            if not path.exists():
                write_whole(path, content)
        return str(path)


def integration_state(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return all that the next step depends on, float64 of shape (mj_stateSize,)."""
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return state


def _name_meshes(spec: mujoco.MjSpec, stems: dict[str, str]) -> None:
    """Name the meshes of a URDF after their files, as MuJoCo does."""
    taken: dict[str, str] = {}
    for mesh in spec.meshes:
        stem = stems.get(Path(mesh.file).stem, mesh.name)
        numbered = (f'{stem}{number}' for number in itertools.count(1))
        name = next(
            item for item in itertools.chain([stem], numbered) if item not in taken.values()
        )
        taken[mesh.name] = name
    for geom in spec.geoms:
        if geom.meshname:
            geom.meshname = taken[geom.meshname]
    for mesh in spec.meshes:
        mesh.name = taken[mesh.name]


def _name_files(spec: mujoco.MjSpec, kept: Mapping[str, str]) -> None:
    """Replace the file names of a spec by the paths of the copies."""
    for element in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures):
        if element.file:
            element.file = kept[element.file]
    for texture in spec.textures:
        for side, name in enumerate(texture.cubefiles):
            if name:
                texture.cubefiles[side] = kept[name]
