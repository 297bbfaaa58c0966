# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Robots by name, from MuJoCo Menagerie.

The package mujoco-menagerie knows the names and downloads a robot at its first use, or finds it
below `MENAGERIE_ROOT`.  `menagerie.yaml` beside this module says of well-known ones what a sidecar
says; names in it that a version of a robot does not have are left out, and logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
import logging
from pathlib import Path
from typing import Any

import mujoco
import yaml

from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.robot_import.errors import MissingExtra
from urlab_ros_bridge.robot_import.errors import RobotImportError
from urlab_ros_bridge.robot_import.writing import content_digest
from urlab_ros_bridge.robot_import.writing import option_text
from urlab_ros_bridge.robot_import.writing import scene_text
from urlab_ros_bridge.robot_import.writing import write_robot
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.names import valid_prefix

_LOG = logging.getLogger(__name__)
_START = 'home'


class RobotUnavailable(RobotImportError):
    """A robot of the Menagerie cannot be fetched or read; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class NamedRobot:
    """
    A robot that `--robot` takes.

    :ivar name: as the Menagerie calls it; `short` is our name for it, or empty.
    """

    name: str
    short: str
    title: str
    kind: str
    licence: str


def named_robots() -> list[NamedRobot]:
    """
    Return all robots of the Menagerie; nothing is downloaded.

    :raises MissingExtra: without the package mujoco-menagerie.
    """
    short = {entry['robot']: name for name, entry in _sidecars().items()}
    return [
        NamedRobot(
            robot.name,
            short.get(robot.name, ''),
            robot.display_name,
            robot.category,
            robot.license,
        )
        for robot in _menagerie().robots()
    ]


def robot_world(name: str) -> Path:
    """
    Return the sidecar of a world with one robot on a floor, in the cache.

    :param name: of the Menagerie, or a short one of ours.
    :raises UnknownName: listing the names.
    :raises RobotUnavailable: when the robot cannot be downloaded or read.
    :raises MissingExtra: without the package mujoco-menagerie.
    """
    menagerie = _menagerie()
    known = _sidecars().get(name, {})
    wanted = known.get('robot', name)
    if wanted not in menagerie.names():
        raise UnknownName('robot', name, sorted({*_sidecars(), *menagerie.names()}))
    robot = menagerie.get(wanted)
    try:
        path = robot.xml(known.get('entry', robot.default_model)).absolute()
        spec = mujoco.MjSpec.from_file(str(path))
        model = spec.compile()
    except (menagerie.MenagerieError, OSError, ValueError) as error:
        raise RobotUnavailable(f'robot {wanted!r}: {error}') from error
    keys = {model.key(index).name for index in range(model.nkey)}
    sidecar: dict[str, Any] = {
        'scene': 'scene.xml',
        **({'start_keyframe': _START} if _START in keys else {}),
        'articulations': [
            {
                'prefix': valid_prefix(name),
                'model': str(path),
                **_applicable(known.get('settings', {}), model, wanted),
            }
        ],
    }
    height = max(0.0, float(model.stat.center[2]))
    files = {'scene.xml': scene_text(float(model.stat.extent), height, option_text(spec))}
    folder = cache_folder('robots') / f'{valid_prefix(name)}_{content_digest(files, sidecar)}'
    return write_robot(folder, valid_prefix(name), files, sidecar)


def _applicable(settings: dict[str, Any], model: mujoco.MjModel, robot: str) -> dict[str, Any]:
    """Return the sections all of whose names the model has."""
    kinds = ('body', 'joint', 'actuator', 'site', 'cam', 'geom')
    counts = (model.nbody, model.njnt, model.nu, model.nsite, model.ncam, model.ngeom)
    have = {
        getattr(model, kind)(index).name
        for kind, count in zip(kinds, counts, strict=True)
        for index in range(count)
    }
    kept = {}
    for section, content in settings.items():
        missing = sorted(_names(section, content) - have)
        if missing:
            _LOG.warning('%s: %s is left out: the model has no %s', robot, section, missing)
        else:
            kept[section] = content
    return kept


def _names(section: str, content: dict[str, Any]) -> set[str]:
    """Return the names of a model's elements in a section of the sidecar."""
    if section == 'frames':
        return {value if key == 'base' else key for key, value in content.items()}
    if section == 'cameras':
        return set(content)
    if section == 'gripper':
        return {joint for joints in content.values() for joint in joints}
    if section == 'twist' and content['kind'] == 'trot':
        return {name for leg in content['legs'].values() for name in leg.values()}
    if section == 'twist':
        return {*content['left'], *content['right']}
    return set()


@cache
def _sidecars() -> dict[str, dict[str, Any]]:
    text = Path(__file__).with_name('menagerie.yaml').read_text(encoding='utf-8')
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return loaded


def _menagerie() -> Any:
    try:
        import mujoco_menagerie
    except ImportError as error:
        raise MissingExtra('mujoco-menagerie', 'robots', '--robot') from error
    return mujoco_menagerie
