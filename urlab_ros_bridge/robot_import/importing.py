# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Import a robot description as a world that the server serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Any
import xml.etree.ElementTree as ElementTree

import mujoco

from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.robot_import.actuators import add_actuators
from urlab_ros_bridge.robot_import.actuators import command_interfaces
from urlab_ros_bridge.robot_import.actuators import initial_positions
from urlab_ros_bridge.robot_import.actuators import POSITION
from urlab_ros_bridge.robot_import.actuators import VELOCITY
from urlab_ros_bridge.robot_import.base import stands_free
from urlab_ros_bridge.robot_import.document import read_description
from urlab_ros_bridge.robot_import.document import root_link
from urlab_ros_bridge.robot_import.drives import find_drive
from urlab_ros_bridge.robot_import.drives import PLANAR_JOINTS
from urlab_ros_bridge.robot_import.fingers import find_grippers
from urlab_ros_bridge.robot_import.gazebo import SensorImport
from urlab_ros_bridge.robot_import.gazebo import set_friction
from urlab_ros_bridge.robot_import.links import joint_limits
from urlab_ros_bridge.robot_import.links import repair_inertials
from urlab_ros_bridge.robot_import.links import repair_joints
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.packages import Packages
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.robot_import.semantics import disabled_collisions
from urlab_ros_bridge.robot_import.shapes import ShapeImport
from urlab_ros_bridge.robot_import.spec import compile_robot
from urlab_ros_bridge.robot_import.spec import exclude_contacts
from urlab_ros_bridge.robot_import.spec import joined_to_base
from urlab_ros_bridge.robot_import.spec import read_spec
from urlab_ros_bridge.robot_import.spec import release_base
from urlab_ros_bridge.robot_import.spec import rename_links
from urlab_ros_bridge.robot_import.spec import start_pose
from urlab_ros_bridge.robot_import.spec import StartPose
from urlab_ros_bridge.robot_import.wheels import round_wheels
from urlab_ros_bridge.robot_import.writing import content_digest
from urlab_ros_bridge.robot_import.writing import export_files
from urlab_ros_bridge.robot_import.writing import mjcf_text
from urlab_ros_bridge.robot_import.writing import scene_text
from urlab_ros_bridge.robot_import.writing import write_robot
from urlab_ros_bridge.wire.names import valid_prefix

START = 'home'  # the keyframe that the robot starts in
_CLEARANCE = 0.001  # m, between a floating robot and the floor


@dataclass(frozen=True, slots=True)
class ImportedRobot:
    """
    A robot as MJCF with what the sidecar says of it.

    :ivar name: of the robot, a valid prefix.
    :ivar mjcf: names its meshes by absolute paths.
    :ivar settings: entry of the sidecar's `articulations`, without `model`.
    :ivar scene: MJCF of the scene.
    :ivar report: what was repaired, left out or guessed.
    """

    name: str
    mjcf: str
    settings: dict[str, Any]
    scene: str
    report: ImportReport

    def sidecar(self, model: str, scene: str) -> dict[str, Any]:
        """Return the whole sidecar, with the names of the two MJCF files."""
        return {
            'scene': scene,
            'start_keyframe': START,
            'articulations': [{'model': model, **self.settings}],
        }


def import_robot(
    path: Path, options: ImportOptions, meshes: MeshCache | None = None
) -> ImportedRobot:
    """
    Read a URDF or xacro file.

    What is repaired, left out or guessed is logged, and in the robot's report.

    :raises RobotImportError: with the reason; one class a cause.
    """
    path = path.absolute()
    packages = Packages(path.parent, options.package_paths, readable=options.readable)
    report = ImportReport()
    robot = read_description(path, packages, options, report)
    if release_base(robot, root_link(robot, path), report):
        options = replace(options, base='floating' if options.base == 'auto' else options.base)
    renamed = rename_links(robot, report)
    cache = meshes or MeshCache(read=options.read, up_axis=options.mesh_up_axis)
    shapes = ShapeImport(packages, cache, report)
    shapes.prepare(robot, allow_missing=options.allow_missing_meshes)
    return robot_of(robot, path, options, report, renamed)


def robot_of(
    robot: ElementTree.Element,
    path: Path,
    options: ImportOptions,
    report: ImportReport,
    renamed: str = '',
    complete: Callable[[mujoco.MjSpec], None] = lambda spec: None,
) -> ImportedRobot:
    """
    Make a robot of a URDF whose meshes MuJoCo reads.

    :param report: where changes are recorded.
    :param renamed: the name of a link that was called `world`.
    :param complete: adds what a URDF cannot say to the spec.
    :raises RobotImportError: as `import_robot`.
    """
    root = root_link(robot, path)
    repair_inertials(robot, root, report, floats=options.base == 'floating')
    repair_joints(robot, report)
    spec = read_spec(robot, path)
    complete(spec)
    drive = find_drive(robot, report)
    initial = initial_positions(robot, report)

    model = compile_robot(spec, path)
    pose = start_pose(model, initial, path)
    floats = _decide_base(robot, model, pose, options, renamed, drive is not None, report)
    planar = PLANAR_JOINTS if drive and drive.twist['kind'] == 'planar' and floats else {}
    if planar:
        report.guessed('robot', 'its drive moves the base in the plane only')
        _add_planar_base(spec.body(root))
    elif floats:
        spec.body(root).add_freejoint(name=_free_name(spec))
    wheels = round_wheels(spec, model, pose, report) if floats else {}
    exclude_contacts(
        spec,
        pose.touching | joined_to_base(robot, root) | disabled_collisions(path, options),
    )
    sensors = SensorImport(spec, robot, report)
    set_friction(spec, robot)
    interfaces = command_interfaces(robot, drive.interfaces if drive else {}, report)
    interfaces = {**dict.fromkeys(planar.values(), VELOCITY), **interfaces}
    model = compile_robot(spec, path)
    pose = start_pose(model, initial, path)
    add_actuators(spec, robot, model, pose, interfaces, wheels)
    _add_start(spec, model, pose, interfaces)
    model = compile_robot(spec, path)

    height = -pose.lowest + _CLEARANCE if floats else max(0.0, -pose.lowest)
    name = valid_prefix(robot.get('name') or path.stem)
    limits = joint_limits(robot)
    grippers = {
        name: joints
        for name, joints in find_grippers(robot).items()
        if interfaces.keys() >= set(joints)
    }
    settings: dict[str, Any] = {
        'prefix': name,
        'pose': {'pos': [0.0, 0.0, round(height, 6)]},
        'frames': {'base': root, **_frames(sensors.frames, renamed)},
        **({'twist': drive.twist} if drive and (planar or drive.interfaces) else {}),
        **({'gripper': grippers} if grippers else {}),
        **({'joint_limits': limits} if limits else {}),
        **{name: section for name, section in sensors.sections.items() if section},
    }
    scene = scene_text(float(model.stat.extent), height + float(model.stat.center[2]))
    return ImportedRobot(name, mjcf_text(spec, model), settings, scene, report)


def import_robot_world(path: Path, options: ImportOptions) -> Path:
    """
    Import a robot into the cache, and return the sidecar of the world with it.

    :raises RobotImportError: as `import_robot`.
    """
    robot = import_robot(path, options)
    files = {f'{robot.name}.xml': robot.mjcf, 'scene.xml': robot.scene}
    sidecar = robot.sidecar(f'{robot.name}.xml', 'scene.xml')
    folder = cache_folder('robots') / f'{robot.name}_{content_digest(files, sidecar)}'
    return write_robot(folder, robot.name, files, sidecar)


def export_robot(path: Path, options: ImportOptions, folder: Path, overwrite: bool) -> Path:
    """
    Import a robot into a folder of its own, meshes included, and return the sidecar.

    :param overwrite: whether files in the folder may be replaced.
    :raises RobotImportError: as `import_robot`; FilesExist.
    :raises OSError: when the folder cannot be written.
    """
    robot = import_robot(path, options)
    model, scene = f'{robot.name}.xml', 'scene.xml'
    texts = {model: robot.mjcf, scene: robot.scene}
    return export_files(
        folder, robot.name, texts, robot.sidecar(model, scene), overwrite=overwrite
    )


def _frames(given: dict[str, str], renamed: str) -> dict[str, str]:
    """Return the frames of sensors, and of the link that was called `world`."""
    frames = {name: 'world' if frame == renamed else frame for name, frame in given.items()}
    return {**frames, renamed: 'world'} if renamed else frames


def _decide_base(
    robot: ElementTree.Element,
    model: mujoco.MjModel,
    pose: StartPose,
    options: ImportOptions,
    renamed: str,
    has_drive: bool,
    report: ImportReport,
) -> bool:
    """Return whether the root link floats, and report why."""
    if options.base != 'auto':
        return options.base == 'floating'
    floats, reason = (
        (False, 'the root link is called world')
        if renamed
        else stands_free(robot, model, pose, has_drive)
    )
    kind = 'floating' if floats else 'fixed'
    report.guessed('robot', f'the base is {kind}, because {reason} (--base changes it)')
    return floats


def _add_planar_base(body: mujoco.MjsBody) -> None:
    """Let a body move in the plane of the world alone."""
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    kinds = {'x': (slide, (1, 0, 0)), 'y': (slide, (0, 1, 0)), 'yaw': (hinge, (0, 0, 1))}
    for name, (kind, axis) in kinds.items():
        body.add_joint(name=PLANAR_JOINTS[name], type=kind, axis=axis)


def _free_name(spec: mujoco.MjSpec) -> str:
    """Return a name for the free joint that no other joint has."""
    names = {joint.name for joint in spec.joints}
    return next(name for name in ('base', 'base_free', 'urlab_base_free') if name not in names)


def _add_start(
    spec: mujoco.MjSpec, model: mujoco.MjModel, pose: StartPose, interfaces: dict[str, str]
) -> None:
    """Add the keyframe that the robot starts in, with position actuators holding it."""
    ctrl = [
        float(pose.data.qpos[model.jnt_qposadr[model.joint(name).id]])
        if interface == POSITION
        else 0.0
        for name, interface in interfaces.items()
    ]
    spec.add_key(name=START, qpos=pose.data.qpos, ctrl=ctrl)
