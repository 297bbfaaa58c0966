# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The files that levels are made of, as clients name them.

Files that the server was started with, and the bundled models, are read as they are.  Others are a
model of a client: confined, by the allow-list, and tried first (`client_models`).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import os
from pathlib import Path

import mujoco

from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.client_models import BUNDLED
from urlab_ros_bridge.sim.model.client_models import check_total
from urlab_ros_bridge.sim.model.client_models import ClientModels
from urlab_ros_bridge.sim.model.client_models import Sizes
from urlab_ros_bridge.sim.model.mjcf_import import Compiled
from urlab_ros_bridge.sim.model.mjcf_import import load_spec
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.sidecar.sidecar import named_files
from urlab_ros_bridge.sim.requests.background import abandonable

_FREE, _BALL = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL


class ClientModelFiles(ModelFiles):
    """Reads files for an editor; see `mjcf_import.ModelFiles`."""

    def __init__(self, models: ClientModels, draining: Callable[[], bool]) -> None:
        """Read files by `models`; `draining` returns whether the server stops."""
        self._models, self._draining = models, draining
        self._own: set[Path] = set()

    def trust(self, files: Iterable[Path]) -> None:
        """Trust these files: the server was started with them."""
        self._own |= {Path(os.path.realpath(file)) for file in files}

    def model(self, path: Path) -> mujoco.MjSpec:
        """
        Return the model of a file.

        :raises WorldError: when it cannot be used, or clients may not read it.
        """
        real = self._real(path)
        if real is None:
            return load_spec(path)
        try:
            return self._models.of_file(real).spec
        except OpError as error:
            raise WorldError(f'model file {str(path)!r}: {error}') from error

    def mesh(self, path: Path) -> Path:
        """
        Return a file with the content of a mesh file.

        :raises WorldError: as `model` does.
        """
        real = self._real(path)
        if real is None:
            return path
        try:
            return self._models.mesh(real)
        except OpError as error:
            raise WorldError(f'mesh {str(path)!r}: {error}') from error

    def check_sidecar(self, top: Place) -> None:
        """
        Make sure that clients may read all files that a sidecar names.

        :raises WorldError: the same whether a file elsewhere exists or not.
        """
        files = self._models.files
        for name, path in named_files(top):
            if path not in self._own and not files.may_read(path):
                raise WorldError(f'{top.source}: {files.refusal(name)}')

    def work(self, compile_all: Callable[[], Compiled]) -> Compiled:
        """
        Return the result of a compilation; a server that stops does not wait for it.

        :raises OpError: shutting_down.
        """
        return abandonable(compile_all, self._draining)

    def _real(self, path: Path) -> Path | None:
        """
        Return the real path of a client's file; None for one that is read as it is.

        :raises WorldError: when clients may not read it.
        """
        real = Path(os.path.realpath(path))
        if real in self._own or real.is_relative_to(BUNDLED):
            return None
        if not self._models.files.may_read(real):
            raise WorldError(str(self._models.files.refusal(str(path))))
        return real


class CountedFiles(ModelFiles):
    """The files of one level; all of them together are within the limits of a world."""

    def __init__(self, files: ModelFiles, objects: int) -> None:
        self._files = files
        self._total = Sizes({'nbody': objects, 'ngeom': objects})

    def model(self, path: Path) -> mujoco.MjSpec:
        """
        Return the model of a file.

        :raises WorldError: also when the level becomes too large with it.
        """
        spec = self._files.model(path)
        try:
            self._total = self._total + sizes_of(spec)
            check_total(self._total)
        except OpError as error:
            raise WorldError(str(error)) from error
        return spec

    def mesh(self, path: Path) -> Path:
        """Return a file with the content of a mesh file."""
        return self._files.mesh(path)

    def check_sidecar(self, top: Place) -> None:
        """Make sure that all files that a sidecar names may be read."""
        self._files.check_sidecar(top)


def sizes_of(spec: mujoco.MjSpec) -> Sizes:
    """Return the sizes that are known before a model is compiled."""
    kinds = [joint.type for joint in spec.joints]
    freedom = sum(6 if kind == _FREE else 3 if kind == _BALL else 1 for kind in kinds)
    return Sizes(nbody=len(spec.bodies), ngeom=len(spec.geoms), nv=freedom, nu=len(spec.actuators))
