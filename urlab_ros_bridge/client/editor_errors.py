# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Error replies of the editor's ops, one class for each code."""

from __future__ import annotations

from urlab_ros_bridge.client.error_bases import RemoteError

__all__ = [
    'ActorHierarchyFailed',
    'AddQuickConvertFailed',
    'CreateLevelFailed',
    'DestroyAssetFailed',
    'DestroyFailed',
    'DuplicateFailed',
    'GetActorBoundsFailed',
    'ImportFailed',
    'InvalidCount',
    'InvalidMode',
    'LoadLevelFailed',
    'NoBounds',
    'NoViewport',
    'RemoveQuickConvertFailed',
    'SaveLevelFailed',
    'SetActorTransformFailed',
    'SpawnFailed',
    'TooManyCells',
    'UnknownActor',
]


class UnknownActor(RemoteError):
    code = 'unknown_actor'


class ImportFailed(RemoteError):
    code = 'import_failed'


class CreateLevelFailed(RemoteError):
    code = 'create_level_failed'


class LoadLevelFailed(RemoteError):
    code = 'load_level_failed'


class SaveLevelFailed(RemoteError):
    code = 'save_level_failed'


class DestroyAssetFailed(RemoteError):
    code = 'destroy_asset_failed'


class SpawnFailed(RemoteError):
    code = 'spawn_failed'


class DuplicateFailed(RemoteError):
    code = 'duplicate_failed'


class DestroyFailed(RemoteError):
    code = 'destroy_failed'


class SetActorTransformFailed(RemoteError):
    code = 'set_actor_transform_failed'


class ActorHierarchyFailed(RemoteError):
    code = 'actor_hierarchy_failed'


class GetActorBoundsFailed(RemoteError):
    code = 'get_actor_bounds_failed'


class AddQuickConvertFailed(RemoteError):
    code = 'add_quick_convert_failed'


class RemoveQuickConvertFailed(RemoteError):
    code = 'remove_quick_convert_failed'


class InvalidCount(RemoteError):
    code = 'invalid_count'


class TooManyCells(RemoteError):
    code = 'too_many_cells'


class InvalidMode(RemoteError):
    code = 'invalid_mode'


class NoBounds(RemoteError):
    code = 'no_bounds'


class NoViewport(RemoteError):
    code = 'no_viewport'
