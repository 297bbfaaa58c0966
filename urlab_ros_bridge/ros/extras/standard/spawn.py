# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""spawn_entity, spawn_entities, delete_entity, and get_spawnables: what can be spawned."""

from __future__ import annotations

from collections.abc import Iterator
import re
import time
from typing import Any

from urlab_ros_bridge.client.errors import PathNotReadable
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.ops import EntityState
from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.ros.extras.standard.base import PACKAGE
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import SPAWN
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.frames import frame_pose
from urlab_ros_bridge.ros.extras.standard.frames import into_world
from urlab_ros_bridge.ros.extras.standard.frames import pose_from_ros
from urlab_ros_bridge.ros.extras.standard.imports import IMPORT_SECONDS
from urlab_ros_bridge.ros.extras.standard.imports import imported
from urlab_ros_bridge.ros.extras.standard.imports import ImportedModel
from urlab_ros_bridge.ros.extras.standard.imports import MISSING_ASSETS
from urlab_ros_bridge.ros.extras.standard.resources import BUNDLED
from urlab_ros_bridge.ros.extras.standard.resources import define
from urlab_ros_bridge.ros.extras.standard.resources import Definition
from urlab_ros_bridge.ros.extras.standard.resources import is_there
from urlab_ros_bridge.ros.extras.standard.resources import MODELS
from urlab_ros_bridge.ros.extras.standard.resources import path_of
from urlab_ros_bridge.ros.extras.standard.resources import readable_folders
from urlab_ros_bridge.ros.extras.standard.results import NOT_FOUND
from urlab_ros_bridge.ros.extras.standard.results import OK
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.results import to_result
from urlab_ros_bridge.ros.extras.standard.results import with_code
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.parameters.data import DataParameters
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

# simulation_interfaces/srv/SpawnEntity and SpawnEntities.
NAME_NOT_UNIQUE = 101
NAME_INVALID = 102
NAMESPACE_INVALID = 105
RESOURCE_PARSE_ERROR = 106
INVALID_POSE = 109
ENTITIES_SPAWN_FAILED = 150

# What the errors of the server are here.
_RESULTS = {
    'name_taken': NAME_NOT_UNIQUE,
    'name_invalid': NAME_INVALID,
    'import_failed': RESOURCE_PARSE_ERROR,
    'missing_assets': MISSING_ASSETS,
    'path_not_readable': NOT_FOUND,
}
_NAMESPACE = re.compile(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)


def spawn_entity(context: SimulationContext, request: Any, response: Any) -> str:
    """Add an MJCF, URDF or SDF model, or a bundled object; responds when its topics exist."""
    response.entity_name = spawn(context, request, time.monotonic() + IMPORT_SECONDS)
    return ''


def spawn_entities(context: SimulationContext, request: Any, response: Any) -> str:
    """Add several entities, each with its own result."""
    result_type = load_interface(f'{PACKAGE}/msg/SpawnResult')
    deadline = time.monotonic() + IMPORT_SECONDS
    failed = []
    for item in request.spawn_requests:
        outcome = result_type()
        try:
            outcome.entity_name = spawn(context, item, deadline)
            outcome.result.result = OK
        except Exception as error:
            outcome.result.result, outcome.result.error_message = to_result(error)
            failed.append(f'{item.name!r}: {outcome.result.error_message}')
        response.results.append(outcome)
    if failed:
        raise StandardRejected(ENTITIES_SPAWN_FAILED, '; '.join(failed))
    return f'{len(response.results)} spawned'


def spawn(context: SimulationContext, request: Any, deadline: float) -> str:
    """
    Spawn one entity, and return its name.

    :param request: SpawnEntity of the standard, as request or message, of version 1 or 2.
    :param deadline: of imports, by time.monotonic().
    """
    resource = getattr(request, 'entity_resource', request)
    readable = readable_folders(context.settings(DataParameters))
    definition = define(resource.uri, resource.resource_string, readable)
    pose = request.initial_pose
    frame = frame_pose(context, pose.header.frame_id, INVALID_POSE)
    position, (x, y, z, w) = into_world(frame, pose_from_ros(pose.pose, INVALID_POSE))
    name = _name(request, definition.name)
    fields = {'quat': (w, x, y, z), 'allow_renaming': request.allow_renaming}
    with (
        imported(context, definition, deadline) as model,
        context.world_turn,
        context.stepping.between_rounds(),
    ):
        try:
            entity = _add(context, name, definition, model, position, fields)
        except RemoteError as error:
            if error.code not in _RESULTS:
                raise
            text = with_code(error.code, str(error))
            raise StandardRejected(_RESULTS[error.code], text) from error
        context.wait_for_world()
    return entity.name


def _add(
    context: SimulationContext,
    name: str,
    definition: Definition,
    model: ImportedModel | None,
    position: Vector,
    fields: dict[str, Any],
) -> EntityState:
    """Have the server read the import, or without one the definition itself."""
    if model is not None:
        x, y, z = position
        raised = (x, y, max(z, model.height))
        try:
            return context.client.spawn_entity(name, file=model.file, pos=raised, **fields)
        except PathNotReadable as error:
            context.log(
                'warning',
                f'{error}: the server has another data folder than the bridge (data_dir), so it '
                'reads the URDF itself, without actuators and sensors of its tags',
            )
    return context.client.spawn_entity(
        name, xml=definition.xml, file=definition.file, pos=position, **fields
    )


def _name(request: Any, suggested: str) -> str:
    """
    Return the requested name; the namespace of an entity is its name.

    :raises StandardRejected: NAME_INVALID or NAMESPACE_INVALID.
    """
    namespace = request.entity_namespace
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise StandardRejected(
            NAMESPACE_INVALID, f'{namespace!r} is not a namespace (letters, digits, _)'
        )
    inner = namespace.strip('/')
    name = request.name or inner or suggested
    if not name and not request.allow_renaming:
        raise StandardRejected(NAME_INVALID, 'name is empty, and the resource has none')
    if inner not in ('', name):
        raise StandardRejected(
            NAMESPACE_INVALID,
            f'the namespace of {name!r} is its name; leave entity_namespace empty or set it to '
            f'{name!r}',
        )
    return name


def delete_entity(context: SimulationContext, request: Any, response: Any) -> str:
    """Delete an entity; responds when its topics are gone."""
    with context.world_turn, context.stepping.between_rounds():
        context.client.delete_entity(request.entity)
        context.wait_for_world()
    return ''


def get_spawnables(context: SimulationContext, request: Any, response: Any) -> str:
    """List the bundled models, and the MJCF, URDF and SDF files in the given folders."""
    message_type = load_interface(f'{PACKAGE}/msg/Spawnable')
    found = [(f'{BUNDLED}:{name}', 'bundled object') for name in object_names()]
    found += [(f'{BUNDLED}:{name}', 'bundled robot') for name in robot_names()]
    readable = readable_folders(context.settings(DataParameters))
    for source in request.sources:
        found += _files(source, readable)
    for uri, description in found:
        item = message_type(description=description)
        # Version 2 of the standard has a resource in place of the URI.
        getattr(item, 'entity_resource', item).uri = uri
        response.spawnables.append(item)
    return f'{len(found)} resources; any MJCF, URDF or SDF file or text can be spawned too'


def _files(source: str, readable: ReadableFolders | None) -> Iterator[tuple[str, str]]:
    folder = path_of(source)
    if not is_there(folder, readable) or not folder.is_dir():
        where = '' if readable is None else ' in the data folder or a ROS package'
        raise StandardRejected(NOT_FOUND, f'{source} is not a folder on this machine{where}')
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in MODELS and path.is_file():
            yield path.as_uri(), f'file in {source}'


ENTRIES = (
    standard(
        spawn_entity,
        {StandardFeature.SPAWNING: '', StandardFeature.SPAWNING_RESOURCE_STRING: ''},
        needs=SPAWN,
        ops=('spawn_entity', 'get_entities'),
        group=ServiceGroup.ENTITIES,
    ),
    standard(
        spawn_entities,
        {StandardFeature.SPAWNING_ENTITIES: ''},
        needs=SPAWN,
        ops=('spawn_entity', 'get_entities'),
        group=ServiceGroup.ENTITIES,
    ),
    standard(
        delete_entity,
        {StandardFeature.DELETING: ''},
        needs=SPAWN,
        ops=('delete_entity',),
        group=ServiceGroup.ENTITIES,
    ),
    standard(
        get_spawnables,
        {StandardFeature.SPAWNABLES: ''},
        needs=SPAWN,
        group=ServiceGroup.INDEPENDENT,
    ),
)
