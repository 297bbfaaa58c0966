# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What is spawned: an MJCF or URDF text, or a file of the data folder or of the bundled models.

What a model may be, and where its files may lie, is decided in `client_models`.  A URDF robot
stands free, unless its root link is called ``world``, as ROS has it; its visual geometry is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path

import mujoco

from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import BUNDLED
from urlab_ros_bridge.sim.model.client_models import ClientModel
from urlab_ros_bridge.sim.model.client_models import ClientModels
from urlab_ros_bridge.sim.model.client_models import Sizes
from urlab_ros_bridge.sim.model.client_models.files import read_user_file
from urlab_ros_bridge.sim.model.client_models.limits import CHARACTERS
from urlab_ros_bridge.sim.model.mounting import mounted_rays
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import parse_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.paths import DataFolder

_NO_NAME = 'MuJoCo Model'  # what MuJoCo calls a model without a name
_SIDECARS = ('.yaml', '.yml')


@dataclass(frozen=True, slots=True)
class SpawnSource:
    """
    A model that was read and tried but not yet compiled here.

    :ivar settings: settings of the robot in a sidecar, None without one.
    :ivar start_keyframe: in which the sidecar lets it start, empty for none.
    :ivar sizes: of the model compiled alone, with the scanners that the sidecar adds.
    """

    spec: mujoco.MjSpec
    settings: ArticulationSpec | None
    sizes: Sizes
    start_keyframe: str = ''

    @property
    def own_name(self) -> str:
        """Return the model's name, or that of its first body; '' without either."""
        if self.spec.modelname not in ('', _NO_NAME):
            return self.spec.modelname
        return next((body.name for body in self.spec.bodies[1:] if body.name), '')


def read_source(models: ClientModels, data: DataFolder, fields: Fields) -> SpawnSource:
    """
    Read the `xml` or the `file` of a request.

    :raises OpError: missing_field, path_not_readable, import_failed, missing_assets.
    """
    if ('xml' in fields) == ('file' in fields):
        raise OpError('missing_field', 'one of xml and file')
    if 'xml' in fields:
        model = models.of_text(fields.string('xml', longest=CHARACTERS))
        settings, start = None, ''
    else:
        path, settings, start = _find(models, data, fields.string('file'))
        model = models.of_file(path)
    if model.urdf:
        _stand_free(model)
    mounted = Sizes({'nsensordata': mounted_rays(settings) if settings else 0})
    return SpawnSource(model.spec, settings, model.sizes + mounted, start)


def _find(
    models: ClientModels, data: DataFolder, text: str
) -> tuple[Path, ArticulationSpec | None, str]:
    """Return the model file; of a sidecar with one robot, its settings and start keyframe too."""
    bundled = BUNDLED / text
    if text in os.listdir(BUNDLED) and not (data.root / text).exists():
        text = str(bundled)
    path = read_user_file(data, text, '.', 'path_not_readable')
    if path.suffix not in _SIDECARS:
        return path, None, ''
    try:
        top = read_yaml(path, SidecarError)
        models.files.check_sidecar(top)
        world = parse_sidecar(top)
    except SidecarError as error:
        raise OpError('import_failed', str(error)) from error
    robots = world.articulations
    if len(robots) != 1:
        raise OpError('import_failed', f'{path.name} has {len(robots)} robots; it must have one')
    model = os.path.realpath(robots[0].model)
    path = read_user_file(data, model, '.', 'path_not_readable')
    return path, robots[0], world.start_keyframe


def _stand_free(model: ClientModel) -> None:
    """Give the roots of a URDF free joints, unless they are fixed to a link called world."""
    world = model.spec.worldbody
    for body in [] if model.fixed else world.bodies:
        if not list(body.joints):
            body.add_freejoint()
