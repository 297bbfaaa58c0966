# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The process that imports a robot for somebody else: with limits, from the folders they may read.

A request is one JSON object on the standard input, the answer one on the standard output.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
import resource
import sys
from typing import Any

import yaml

from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.robot_import.document import read_description
from urlab_ros_bridge.robot_import.errors import MissingMeshes
from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.options import is_sdf
from urlab_ros_bridge.robot_import.packages import Packages
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.wire.errors import UrlabError

_MEMORY_BYTES = 4 << 30
_FILE_BYTES = 512 << 20  # that it may write
_CPU_SECONDS = 60
_MAX_TEXT = 2_000  # characters of an error


def main() -> None:
    """Import the robot of a request, and answer."""
    _limit()
    request = json.load(sys.stdin)
    # What libraries print must not mix with the answer.
    answer = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    json.dump(_answer(request), answer)
    answer.flush()


def _limit() -> None:
    os.nice(5)
    for kind, limit in (
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """
    Return what was written, or the error.

    :param request: `source`, a URDF or SDF file; `folder`, which the robot is written to; `roots`
        and `packages`, see `ReadableFolders`, or neither: all files may be read.
    :return: `file`: the sidecar of a robot, or the MJCF of an object that neither moves nor
        senses; `height` of a robot's origin (m), None for an object.
    """
    source, folder = Path(request['source']), Path(request['folder'])
    readable = None
    if 'roots' in request:
        roots = (*request['roots'], str(folder.resolve()))
        readable = ReadableFolders(roots, tuple(request['packages']))
    options = ImportOptions(readable=readable)
    try:
        from urlab_ros_bridge.robot_import.importing import export_robot

        if is_sdf(source):
            return _sdf(source, options, folder)
        sidecar = export_robot(source, options, folder, overwrite=False)
        if not _is_robot(source, options):
            return {'file': str(sidecar.with_suffix('.xml')), 'height': None}
        settings = yaml.safe_load(sidecar.read_text())['articulations'][0]
        return {'file': str(sidecar), 'height': settings['pose']['pos'][2]}
    except MemoryError:
        return {'error': f'it needs more than {_MEMORY_BYTES >> 30} GiB of memory'}
    except UrlabError as error:
        missing = isinstance(error, MissingMeshes | PackageNotFound)
        return {'error': str(error).replace(f'{source}: ', '')[:_MAX_TEXT], 'missing': missing}
    except Exception as error:  # a mistake of the import must not be silent
        return {'error': f'{type(error).__name__}: {error}'[:_MAX_TEXT]}


def _sdf(source: Path, options: ImportOptions, folder: Path) -> dict[str, Any]:
    """Write the model of an SDF file, see `_answer`."""
    from urlab_ros_bridge.robot_import.sdf.importing import export_model

    made, height = export_model(source, options, folder)
    return {'file': str(made), 'height': height}


def _is_robot(source: Path, options: ImportOptions) -> bool:
    """Return whether something of a URDF moves or senses; else it is an object."""
    robot = read_description(source, Packages(source.parent, {}), options, ImportReport())
    return any(joint.get('type') != 'fixed' for joint in robot.findall('joint')) or any(
        robot.find(f'.//{tag}') is not None for tag in ('sensor', 'ros2_control')
    )


if __name__ == '__main__':
    main()
