# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Import a world, a model, or a model folder of SDF as a world that the server serves."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from itertools import chain
from itertools import count
import logging
from pathlib import Path
from typing import Any

import mujoco

from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.errors import MissingMeshes
from urlab_ros_bridge.robot_import.importing import ImportedRobot
from urlab_ros_bridge.robot_import.importing import robot_of
from urlab_ros_bridge.robot_import.importing import START
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.robot_import.sdf.document import read_sdf
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.robot_import.sdf.frames import Scope
from urlab_ros_bridge.robot_import.sdf.includes import Includes
from urlab_ros_bridge.robot_import.sdf.models import add_scenery
from urlab_ros_bridge.robot_import.sdf.models import complete_robot
from urlab_ros_bridge.robot_import.sdf.models import Part
from urlab_ros_bridge.robot_import.sdf.models import parts_of
from urlab_ros_bridge.robot_import.sdf.models import urdf_of
from urlab_ros_bridge.robot_import.sdf.resources import Resources
from urlab_ros_bridge.robot_import.sdf.shapes import ShapeMaker
from urlab_ros_bridge.robot_import.sdf.surroundings import add_overview
from urlab_ros_bridge.robot_import.sdf.surroundings import add_surroundings
from urlab_ros_bridge.robot_import.sdf.surroundings import empty_scene
from urlab_ros_bridge.robot_import.spec import compile_robot
from urlab_ros_bridge.robot_import.writing import content_digest
from urlab_ros_bridge.robot_import.writing import copy_meshes
from urlab_ros_bridge.robot_import.writing import export_files
from urlab_ros_bridge.robot_import.writing import mjcf_text
from urlab_ros_bridge.robot_import.writing import scene_text
from urlab_ros_bridge.robot_import.writing import write_robot
from urlab_ros_bridge.wire.names import valid_prefix

_LOG = logging.getLogger(__name__)
# What a world may have and MuJoCo does not, counted in the log.
_WITHOUT_COUNTERPART = (
    'actor', 'road', 'population', 'audio', 'gui', 'state', 'atmosphere', 'particle_emitter',
    'projector', 'fluid_added_mass',
)  # fmt: skip


@dataclass
class ImportedWorld:
    """
    A world as files and a sidecar.

    :ivar name: of the world, for its sidecar.
    :ivar scene: MJCF of all that is no robot.
    :ivar robots: with the pose of each in its settings.
    """

    name: str
    scene: str
    robots: list[ImportedRobot] = field(default_factory=list)

    @property
    def files(self) -> dict[str, str]:
        """Return the contents by file name."""
        return {'scene.xml': self.scene, **{f'{r.name}.xml': r.mjcf for r in self.robots}}

    @property
    def sidecar(self) -> dict[str, Any]:
        """Return the sidecar."""
        robots = [{'model': f'{robot.name}.xml', **robot.settings} for robot in self.robots]
        start = {'start_keyframe': START} if robots else {}
        return {'scene': 'scene.xml', **start, 'articulations': robots}


def import_sdf(
    path: Path, options: ImportOptions, meshes: MeshCache | None = None
) -> ImportedWorld:
    """
    Read a world, a model, or the folder of a model.

    What is left out or decided is logged.

    :raises RobotImportError: with file, line and element; one class a cause.
    """
    path, root, shapes = _read(path, options, meshes)
    worlds, models = root.all('world'), root.all('model')
    if len(worlds) > 1 or (not worlds and len(models) != 1):
        raise InvalidDescription(
            path, f'it has {len(worlds)} worlds and {len(models)} models; one of either is served'
        )
    made = (
        _world(worlds[0], path, options, shapes)
        if worlds
        else _single(models[0], path, options, shapes)
    )
    _report(path, root, options, shapes)
    return made


def _read(
    path: Path, options: ImportOptions, meshes: MeshCache | None
) -> tuple[Path, SdfElement, ShapeMaker]:
    """Return the file, its element `sdf` with all that it includes, and what makes shapes."""
    resources = Resources(options)
    path = resources.model_file(path.absolute())
    root = read_sdf(path, resources.read)
    includes = Includes(resources)
    includes.expand(root, (path.resolve(),))
    masks = next(root.iter('collide_bitmask'), None) is not None
    cache = meshes or MeshCache(read=options.read, up_axis=options.mesh_up_axis)
    shapes = ShapeMaker(resources, cache, masks)
    shapes.problems.update(includes.missing)
    return path, root, shapes


def _report(path: Path, root: SdfElement, options: ImportOptions, shapes: ShapeMaker) -> None:
    """
    Log what is left out.

    :raises MissingMeshes: unless the options allow it.
    """
    if shapes.problems and not options.allow_missing_meshes:
        raise MissingMeshes(shapes.problems)
    for name, reason in shapes.problems.items():
        _LOG.warning('left out: %s: %s', name, reason)
    for tag in _WITHOUT_COUNTERPART:
        shapes.left_out[f'<{tag}>'] += sum(1 for _ in root.iter(tag))
    left_out = [f'{count} {what}' for what, count in shapes.left_out.items() if count]
    if left_out:
        _LOG.warning('%s: left out, without a counterpart: %s', path.name, ', '.join(left_out))


def export_model(path: Path, options: ImportOptions, folder: Path) -> tuple[Path, float | None]:
    """
    Import the model of a file alone, into an empty folder.

    :return: the sidecar of a robot, with the height of its origin above the floor (m); or the
        MJCF of an object, and None.
    :raises RobotImportError: as `import_sdf`.
    """
    path, root, shapes = _read(path, options, None)
    models = root.all('model')
    if len(models) != 1:
        raise InvalidDescription(path, f'it has {len(models)} models; one can be spawned')
    model, spec = models[0], mujoco.MjSpec()
    robots = []
    for part in parts_of(Scope(model), AT_ORIGIN):
        if part.is_robot:
            robots.append(_robot(part, path, options, shapes, []))
        else:
            add_scenery(spec, part, shapes, part.name)
    _report(path, root, options, shapes)
    if len(robots) > 1 or (robots and len(spec.bodies) > 1):
        raise InvalidDescription(path, 'its links are not all connected by joints')
    if not robots:
        text = copy_meshes(mjcf_text(spec, compile_robot(spec, path)), folder / 'meshes')
        write_whole(folder / 'object.xml', text.encode())
        return folder / 'object.xml', None
    made = ImportedWorld(robots[0].name, robots[0].scene, robots)
    sidecar = export_files(folder, made.name, made.files, made.sidecar, overwrite=True)
    return sidecar, robots[0].settings['pose']['pos'][2]


def _world(
    world: SdfElement, path: Path, options: ImportOptions, shapes: ShapeMaker
) -> ImportedWorld:
    """Return a world with everything where the file has it."""
    scope, spec = Scope(world), empty_scene()
    add_surroundings(spec, world, scope)
    robots: list[Part] = []
    for name, model in scope.models.items():
        for part in parts_of(model, scope.pose(name, world)):
            if part.is_robot:
                robots.append(part)
            else:
                add_scenery(spec, part, shapes, part.name)
    add_overview(spec, compile_robot(spec, path), [part.frame.position for part in robots])
    model = compile_robot(spec, path)
    made = ImportedWorld(valid_prefix(world.get('name') or path.stem), mjcf_text(spec, model))
    taken = [body.name for body in spec.bodies] + [geom.name for geom in spec.geoms]
    for part in robots:
        robot = _robot(part, path, options, shapes, taken)
        taken.append(robot.name)
        robot.settings['pose'] = _pose(part.frame)
        made.robots.append(robot)
    return made


def _single(
    model: SdfElement, path: Path, options: ImportOptions, shapes: ShapeMaker
) -> ImportedWorld:
    """Return a model on the floor of the usual scene, a robot as one from a URDF."""
    robots: list[ImportedRobot] = []
    spec = mujoco.MjSpec.from_string(scene_text(2.0, 0.5))
    for part in parts_of(Scope(model), _placed(model)):
        if part.is_robot:
            robots.append(_robot(part, path, options, shapes, [r.name for r in robots]))
        else:
            add_scenery(spec, part, shapes, part.name)
    if len(robots) == 1 and len(spec.bodies) == 1:
        scene = robots[0].scene
    else:
        scene = mjcf_text(spec, compile_robot(spec, path))
    return ImportedWorld(valid_prefix(model.get('name') or path.stem), scene, robots)


def _placed(model: SdfElement) -> Pose:
    """Return the pose of a model that is alone in its file."""
    assert model.parent is not None
    return Scope(model.parent).pose(model.get('name', ''), model)


def _robot(
    part: Part, path: Path, options: ImportOptions, shapes: ShapeMaker, taken: list[str]
) -> ImportedRobot:
    base = options.base
    if part.is_fixed or base == 'auto':
        base = 'fixed' if part.is_fixed else 'floating'
    robot = robot_of(
        urdf_of(part, shapes),
        path,
        replace(options, base=base),
        ImportReport(),
        complete=lambda spec: complete_robot(spec, part, shapes),
    )
    name = _free_name(robot.name, taken)
    return replace(robot, name=name, settings={**robot.settings, 'prefix': name})


def _free_name(name: str, taken: list[str]) -> str:
    """Return a name for a robot such that no other name begins with it, nor it with another."""

    def is_free(candidate: str) -> bool:
        return not any(
            f'{other}_'.startswith(f'{candidate}_') or f'{candidate}_'.startswith(f'{other}_')
            for other in taken
        )

    short = name.replace('_', '')
    numbered = (f'{short}x{number}' for number in count(2))
    return next(each for each in chain((name, short, f'robot{short}'), numbered) if is_free(each))


def _pose(pose: Pose) -> dict[str, list[float]]:
    return {'pos': list(pose.position), 'quat': list(xyzw_to_wxyz(pose.orientation))}


def import_sdf_world(path: Path, options: ImportOptions) -> Path:
    """
    Import a file into the cache, and return the sidecar of the world.

    :raises RobotImportError: as `import_sdf`.
    """
    made = import_sdf(path, options)
    digest = content_digest(made.files, made.sidecar)
    folder = cache_folder('robots') / f'{made.name}_{digest}'
    return write_robot(folder, made.name, made.files, made.sidecar)


def export_sdf(path: Path, options: ImportOptions, folder: Path, overwrite: bool) -> Path:
    """
    Import a file into a folder of its own, meshes included, and return the sidecar.

    :param overwrite: whether files in the folder may be replaced.
    :raises RobotImportError: as `import_sdf`; FilesExist.
    :raises OSError: when the folder cannot be written.
    """
    made = import_sdf(path, options)
    return export_files(folder, made.name, made.files, made.sidecar, overwrite=overwrite)
