# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
URDFs of spawn_entity, imported as `urlab import` does it, in a process with limits.

The files go to the data folder, from which the server reads them by its rules for models from
clients; it keeps copies, so they are removed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
import math
from pathlib import Path
import re
import resource
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import yaml

from urlab_ros_bridge.files import default_data_dir
from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.ros.bag.parameters import BagParameters
from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.resources import Definition
from urlab_ros_bridge.ros.services.standard.resources import RESOURCE_PARSE_ERROR
from urlab_ros_bridge.ros.services.standard.results import StandardRejected
from urlab_ros_bridge.wire.addresses import is_loopback

# simulation_interfaces/srv/SpawnEntity.
MISSING_ASSETS = 107

_SECONDS = 60
_BYTES = 4 << 30
_MISSING = re.compile(r'meshes cannot be used|was not found')


@dataclass(frozen=True)
class ImportedModel:
    """
    What the server reads in place of a URDF.

    :ivar file: sidecar of a robot, MJCF of an object.
    :ivar height: of the origin of a robot that stands on the floor (m).
    """

    file: str
    height: float


@contextmanager
def imported(context: SimulationContext, definition: Definition) -> Iterator[ImportedModel | None]:
    """
    Import a URDF as long as the context lasts.

    None: it is no URDF, or one without meshes, joints and sensors, which the server reads as well;
    or the server is on another machine, or MuJoCo is not installed here.

    :raises StandardRejected: MISSING_ASSETS or RESOURCE_PARSE_ERROR, with the reason.
    """
    robot = None if definition.urdf is None else ElementTree.fromstring(definition.urdf)
    moves = robot is not None and _is_robot(robot)
    can_import = is_loopback(context.client.host) and find_spec('mujoco') is not None
    if robot is None or not (moves or robot.find('.//mesh') is not None) or not can_import:
        yield None
        return
    data = Path(context.settings(BagParameters).data_dir or default_data_dir())
    data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='spawned_', dir=data) as folder:
        source = definition.path or Path(folder, 'robot.urdf')
        if definition.path is None:
            source.write_text(definition.urdf or '', encoding='utf-8')
        _import(source, Path(folder))
        (sidecar,) = Path(folder).glob('*.yaml')
        if moves:
            height = yaml.safe_load(sidecar.read_text())['articulations'][0]['pose']['pos'][2]
            yield ImportedModel(str(sidecar), height)
        else:
            yield ImportedModel(str(sidecar.with_suffix('.xml')), -math.inf)


def _is_robot(robot: ElementTree.Element) -> bool:
    """Return whether something of it moves or senses; else it is an object."""
    joints = robot.findall('joint')
    return any(joint.get('type') != 'fixed' for joint in joints) or any(
        robot.find(f'.//{tag}') is not None for tag in ('sensor', 'ros2_control')
    )


def _import(source: Path, folder: Path) -> None:
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'import', str(source)]
    process = subprocess.Popen(
        tied([*command, '--out', str(folder), '--log-level', 'error']),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.prlimit(process.pid, resource.RLIMIT_AS, (_BYTES, _BYTES))
    try:
        _, text = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise StandardRejected(
            RESOURCE_PARSE_ERROR, f'{source.name}: the import took more than {_SECONDS} s'
        ) from None
    if process.returncode:
        said = re.search(r'^error: (.*)', text, re.DOTALL | re.MULTILINE)
        last = (text.strip() or f'ended with code {process.returncode}').splitlines()[-1]
        problem = said[1].strip() if said else last
        code = MISSING_ASSETS if _MISSING.search(problem) else RESOURCE_PARSE_ERROR
        raise StandardRejected(code, f'urlab import: {problem}')
