# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels and actors of the editor (namespace scene)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from urlab_ros_bridge.client.editor.replies import Blueprint
from urlab_ros_bridge.client.editor.replies import HierarchyNode
from urlab_ros_bridge.client.editor.replies import LevelSnapshot
from urlab_ros_bridge.client.editor.replies import Spawned
from urlab_ros_bridge.client.editor.replies import to_wire
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply

if TYPE_CHECKING:
    from urlab_ros_bridge.client.session import Session

Vector = Iterable[float] | np.ndarray
EDITOR_TIMEOUT = 60.0  # s; the server reads files and compiles models


def floats(values: Vector | None) -> list[float] | None:
    """Return plain numbers; None stays None."""
    return None if values is None else [float(value) for value in values]


def target_fields(target: str, by_name: bool) -> dict[str, Any]:
    """Return the fields that name an actor: by its id, or by its name."""
    return {'target': target, 'target_by': 'actor_name' if by_name else None}


class SceneOps:
    """Ops of the namespace scene; `quat` is w, x, y, z and `euler` roll, pitch, yaw in degrees."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _request(self, op: str, timeout: float = EDITOR_TIMEOUT, **fields: Any) -> dict[str, Any]:
        return self._session.request(op, timeout, **fields)

    def import_xml(self, path: str, force_reimport: bool = False) -> Blueprint:
        """
        Make a blueprint of a file on the server's disk: MJCF, a sidecar with one robot, a mesh.

        :raises ImportFailed: with the compiler's message.
        """
        reply = self._request('import_xml', path=str(path), force_reimport=force_reimport)
        return read_reply(Blueprint, reply)

    def create_level(
        self, name: str, force_overwrite: bool = False, scene: str | None = None
    ) -> str:
        """Create and open a level, empty or from a scene file (extension); return its file."""
        reply = self._request(
            'create_level', name=name, force_overwrite=force_overwrite, scene=scene
        )
        return read_field(reply, 'level_path', str)

    def load_level(self, name_or_path: str) -> str:
        """Open a level; play ends.  Return its file."""
        reply = self._request('load_level', level_path=str(name_or_path))
        return read_field(reply, 'level_path', str)

    def save_level(self, name: str | None = None, force_overwrite: bool | None = None) -> str:
        """Save the open level, under another name when one is given (extension)."""
        reply = self._request('save_level', name=name, force_overwrite=force_overwrite)
        return read_field(reply, 'level_path', str)

    def current_level(self) -> str:
        """Return the file of the open level, '' when it has none."""
        return read_field(self._request('current_level'), 'level_path', str)

    def ensure_manager(self) -> bool:
        """Ensure that the level can be simulated; return whether it already could."""
        return read_field(self._request('ensure_manager'), 'was_existing', bool)

    def destroy_asset(self, asset_path: str) -> bool:
        """Delete a level or an imported blueprint; return whether it existed."""
        reply = self._request('destroy_asset', asset_path=asset_path)
        return read_field(reply, 'was_found', bool)

    def spawn_actor(
        self,
        blueprint: Blueprint | str,
        actor_id: str = '',
        location: Vector | None = None,
        quat: Vector | None = None,
        *,
        euler: Vector | None = None,
        scale: Vector | None = None,
        physics: str | None = None,
    ) -> Spawned:
        """
        Make an actor, or move the one with that id.

        :param physics: of an object: none, static, dynamic or mocap (extension).
        :raises SpawnFailed: why not.
        """
        reply = self._request(
            'spawn_actor',
            blueprint=_class_path(blueprint),
            actor_id=actor_id,
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
            scale=floats(scale),
            physics=physics,
        )
        return read_reply(Spawned, reply)

    def spawn_grid(
        self,
        blueprint: Blueprint | str,
        base_actor_id: str,
        count_x: int,
        count_y: int,
        spacing: Vector = (1.0, 1.0, 0.0),
        origin: Vector = (0.0, 0.0, 0.0),
        **placing: Any,
    ) -> dict[str, Spawned]:
        """
        Make a grid of actors, all or none; their ids are ``{base}_{i}_{j}``.

        :param placing: `quat`, `euler`, `scale` and `physics` as for `spawn_actor`.
        """
        reply = self._request(
            'spawn_grid',
            blueprint=_class_path(blueprint),
            base_actor_id=base_actor_id,
            count_x=count_x,
            count_y=count_y,
            spacing=floats(spacing),
            origin=floats(origin),
            rotation_quat=to_wire(placing.get('quat')),
            rotation_euler=floats(placing.get('euler')),
            scale=floats(placing.get('scale')),
            physics=placing.get('physics'),
        )
        made = {'blueprint_class_path': read_field(reply, 'blueprint_class_path', str)}
        cells = [
            read_reply(Spawned, {**made, **cell}, 'spawn_grid_ok')
            for cell in read_field(reply, 'actors', tuple[dict[str, Any], ...])
        ]
        return {cell.actor_id: cell for cell in cells}

    def spawn_light(
        self,
        kind: str = 'directional',
        actor_id: str = '',
        location: Vector | None = None,
        *,
        quat: Vector | None = None,
        euler: Vector | None = None,
        intensity: float | None = None,
        color: Vector | None = None,
    ) -> Spawned:
        """Make a light that shines along its x axis: directional, point or spot."""
        reply = self._request(
            'spawn_light',
            kind=kind,
            actor_id=actor_id,
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
            intensity=intensity,
            color=floats(color),
        )
        return read_reply(Spawned, reply)

    def duplicate_actor(
        self,
        target: str,
        new_actor_id: str,
        location: Vector | None = None,
        *,
        by_name: bool = False,
    ) -> Spawned:
        """Copy an actor; 1 m along x from it unless `location` is given."""
        reply = self._request(
            'duplicate_actor',
            **target_fields(target, by_name),
            new_actor_id=new_actor_id,
            location=floats(location),
        )
        return read_reply(Spawned, reply)

    def destroy_actor(self, target: str, *, by_name: bool = False) -> bool:
        """Remove an actor from the level; return whether play must be restarted for that."""
        reply = self._request('destroy_actor', **target_fields(target, by_name))
        return read_field(reply, 'requires_pie_restart', bool)

    def remove_actor(self, target: str, *, by_name: bool = False) -> bool:
        """Remove an actor by the name that the op has had since July 2026, see `destroy_actor`."""
        reply = self._request('remove_actor', **target_fields(target, by_name))
        return read_field(reply, 'requires_pie_restart', bool)

    def set_actor_transform(
        self,
        target: str,
        location: Vector | None = None,
        quat: Vector | None = None,
        *,
        euler: Vector | None = None,
        by_name: bool = False,
    ) -> bool:
        """Move an actor; return whether play must be restarted for that."""
        reply = self._request(
            'set_actor_transform',
            **target_fields(target, by_name),
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
        )
        return read_field(reply, 'requires_pie_restart', bool)

    def actor_hierarchy(self, target: str, *, by_name: bool = False) -> HierarchyNode:
        """Return an actor with the tree of its bodies."""
        reply = self._request('actor_hierarchy', **target_fields(target, by_name))
        return read_field(reply, 'root', HierarchyNode)

    def snapshot(self) -> LevelSnapshot:
        """Return all actors with current poses, and the members of robots."""
        return read_reply(LevelSnapshot, self._request('snapshot'))


def _class_path(blueprint: Blueprint | str) -> str:
    return blueprint.class_path if isinstance(blueprint, Blueprint) else blueprint
