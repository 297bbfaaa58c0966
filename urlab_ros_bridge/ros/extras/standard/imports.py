# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Definitions that are imported here, in another process, before a server gets them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
import math
import os
import subprocess
import time
from typing import Any

from urlab_ros_bridge.files.no_windows import WITHOUT_WINDOWS
from urlab_ros_bridge.files.work_folder import work_folder
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.interpreters import variables_for
from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.resources import Definition
from urlab_ros_bridge.ros.extras.standard.resources import readable_folders
from urlab_ros_bridge.ros.extras.standard.resources import RESOURCE_PARSE_ERROR
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.parameters.data import DataParameters
from urlab_ros_bridge.wire.addresses import is_loopback

# simulation_interfaces/srv/SpawnEntity.
MISSING_ASSETS = 107
IMPORT_SECONDS = 60.0  # of all imports of a request together


@dataclass(frozen=True)
class ImportedModel:
    """
    What the server reads in place of a URDF or SDF.

    :ivar file: sidecar of a robot, MJCF of an object.
    :ivar height: of the origin of a robot that stands on the floor (m).
    """

    file: str
    height: float


@contextmanager
def imported(
    context: SimulationContext, definition: Definition, deadline: float
) -> Iterator[ImportedModel | None]:
    """
    Import a URDF or SDF as long as the context lasts.

    None: the server reads it as well; or the server is on another machine, or MuJoCo is not
    installed here.

    :param deadline: of the request, by time.monotonic().
    :raises StandardRejected: MISSING_ASSETS or RESOURCE_PARSE_ERROR, with the reason.
    """
    python = find_python(('mujoco',)) if is_loopback(context.client.host) else None
    if not definition.is_imported or python is None:
        yield None
        return
    parameters = context.settings(DataParameters)
    with work_folder(parameters.data_folder, 'spawned_') as folder:
        source = definition.path or folder / f'robot.{definition.format}'
        if definition.path is None:
            source.write_text(definition.xml or '', encoding='utf-8', errors='replace')
        request: dict[str, object] = {'source': str(source), 'folder': str(folder)}
        readable = readable_folders(parameters)
        if readable is not None:
            request |= {'roots': readable.roots, 'packages': readable.packages}
        answer = _import(python, request, deadline)
        if 'error' in answer:
            code = MISSING_ASSETS if answer.get('missing') else RESOURCE_PARSE_ERROR
            raise StandardRejected(code, f'{source.name}: {answer["error"]}')
        height = answer['height']
        yield ImportedModel(answer['file'], -math.inf if height is None else height)


def _import(python: str, request: dict[str, object], deadline: float) -> dict[str, Any]:
    """Return the answer of a process that imports, see `robot_import.untrusted`."""
    process = subprocess.Popen(
        tied([python, '-P', '-m', 'urlab_ros_bridge.robot_import.untrusted']),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **WITHOUT_WINDOWS, **variables_for(python)},
        text=True,
    )
    try:
        seconds = max(0.0, deadline - time.monotonic())
        answer, _ = process.communicate(json.dumps(request), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {'error': f'the imports of a request may take {IMPORT_SECONDS:g} s'}
    if process.returncode:
        return {'error': f'the import ended with code {process.returncode}'}
    return json.loads(answer)  # type: ignore[no-any-return]
