# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The client of an editor: levels and actors, play, drawings and the viewport.

A server without an editor answers `NotInEditor` to everything here.
"""

from __future__ import annotations

from typing import Any
from typing import TypeVar

from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.session import floats
from urlab_ros_bridge.client.session import Session
from urlab_ros_bridge.client.session import Vector
from urlab_ros_bridge.editor.replies import Actor
from urlab_ros_bridge.editor.replies import ActorBounds
from urlab_ros_bridge.editor.replies import Blueprint
from urlab_ros_bridge.editor.replies import CameraPose
from urlab_ros_bridge.editor.replies import HierarchyNode
from urlab_ros_bridge.editor.replies import LevelSnapshot
from urlab_ros_bridge.editor.replies import Play
from urlab_ros_bridge.editor.replies import Spawned
from urlab_ros_bridge.editor.replies import to_wire

T = TypeVar('T')
EDITOR_TIMEOUT = 60.0  # s; the server reads files and compiles models
REPLY_SLACK = 5.0  # s added to the server's own deadline
_CLOSE_TIMEOUT = 15.0  # s; the server waits for the threads of the world


class Editor:
    """
    The ops of the editor, by the names of the wire: ``Editor(client)``.

    `target` is an actor's id, or its name with ``by_name=True``; `quat` is w, x, y, z and `euler`
    roll, pitch, yaw in degrees.  Every method raises the `RemoteError` subclass of the server's
    error code, as those of `Client` do.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _request(self, op: str, timeout: float = EDITOR_TIMEOUT, **fields: Any) -> dict[str, Any]:
        return self._session.request(op, timeout, **fields)

    def _ask(self, kind: type[T], op: str, /, **fields: Any) -> T:
        """Send an op and return its reply as the dataclass that describes it."""
        return read_reply(kind, self._request(op, **fields))

    def _ask_for(self, field: str, kind: type[T], op: str, /, **fields: Any) -> T:
        """Send an op and return one field of its reply."""
        return read_field(self._request(op, **fields), field, kind)

    def begin_pie(self, level_path: str | None = None, timeout_s: float = 30.0) -> Play:
        """
        Compile the level and run it; when ready, the client has the handshake of the new world.

        A level that does not compile is not an error here: see `Play.state` and `compile_error`.
        """
        with self._session.exclusive():
            reply = self._request(
                'begin_pie', timeout_s + REPLY_SLACK, level_path=level_path, timeout_s=timeout_s
            )
            payload = read_field(reply, 'handshake_payload', dict[str, Any])
            if payload:
                self._session.absorb(payload)
        return read_reply(Play, reply)

    def stop_pie(self) -> None:
        """Stop the running world and reconnect, to a server without a world."""
        with self._session.exclusive():
            self._request('stop_pie', _CLOSE_TIMEOUT)
            self._session.connect()

    def pie_status(self) -> Play:
        """Return the state of play."""
        return self._ask(Play, 'pie_status')

    def list_actors(self) -> tuple[Actor, ...]:
        """Return the actors of the level."""
        return self._ask_for('actors', tuple[Actor, ...], 'list_actors')

    def find_actors(
        self,
        class_filter: str | None = None,
        tag: str | None = None,
        name_prefix: str | None = None,
        in_pie: bool = False,
    ) -> tuple[Actor, ...]:
        """Return the actors that pass every given filter, of the running world with `in_pie`."""
        return self._ask_for(
            'actors',
            tuple[Actor, ...],
            'find_actors',
            class_filter=class_filter,
            tag=tag,
            name_prefix=name_prefix,
            in_pie=in_pie,
        )

    def list_blueprints(self) -> tuple[Blueprint, ...]:
        """Return the blueprints that `spawn_actor` can use."""
        return self._ask_for('blueprints', tuple[Blueprint, ...], 'list_blueprints')

    def get_actor_bounds(
        self,
        target: str,
        *,
        by_name: bool = False,
        components_only: bool | None = None,
        in_pie: bool | None = None,
    ) -> ActorBounds:
        """
        Return an actor's bounds.

        :param components_only: only of parts that can collide.
        :param in_pie: its pose in the running world (extension).
        """
        fields: dict[str, Any] = {'components_only': components_only, 'in_pie': in_pie}
        return self._ask(ActorBounds, 'get_actor_bounds', **_target(target, by_name), **fields)

    def select_actor(self, target: str, *, by_name: bool = False) -> None:
        """Select one actor."""
        self._request('select_actor', **_target(target, by_name))

    def add_quick_convert(
        self,
        target: str,
        *,
        static: bool = False,
        driven_by_unreal: bool = False,
        complex_mesh: bool = False,
        friction: Vector | None = None,
        by_name: bool = False,
    ) -> None:
        """
        Make an object part of the physics: dynamic, `static`, or moved by clients.

        :param complex_mesh: one convex hull for each connected part of the mesh.
        """
        self._request(
            'add_quick_convert',
            **_target(target, by_name),
            static=static,
            driven_by_unreal=driven_by_unreal,
            complex_mesh=complex_mesh,
            friction=floats(friction),
        )

    def remove_quick_convert(self, target: str, *, by_name: bool = False) -> None:
        """Make an object visual-only from the next play."""
        self._request('remove_quick_convert', **_target(target, by_name))

    def draw_marker(
        self, location: Vector, color: Vector, ttl: float = 0.0, label: str = '', tag: str = ''
    ) -> None:
        """Draw a ball for `ttl` seconds; 0: for one image, -1: until `clear_markers`."""
        place: dict[str, Any] = {'location': floats(location), 'label': label}
        self._request('draw_marker', color=floats(color), ttl=ttl, tag=tag, **place)

    def draw_line(
        self,
        start: Vector,
        end: Vector,
        color: Vector,
        ttl: float = 0.0,
        thickness: float = 1.0,
        tag: str = '',
    ) -> None:
        """Draw a line, `thickness` cm wide."""
        ends: dict[str, Any] = {'from': floats(start), 'to': floats(end), 'thickness': thickness}
        self._request('draw_line', color=floats(color), ttl=ttl, tag=tag, **ends)

    def draw_arrow(
        self,
        start: Vector,
        end: Vector,
        color: Vector,
        ttl: float = 0.0,
        thickness: float = 1.0,
        arrow_size: float | None = None,
        tag: str = '',
    ) -> None:
        """Draw an arrow; `arrow_size` is the length of its head in m."""
        ends: dict[str, Any] = {'from': floats(start), 'to': floats(end), 'thickness': thickness}
        self._request(
            'draw_arrow', color=floats(color), ttl=ttl, tag=tag, arrow_size=arrow_size, **ends
        )

    def draw_box(
        self,
        center: Vector,
        half_extents: Vector,
        color: Vector,
        quat: Vector | None = None,
        ttl: float = 0.0,
        tag: str = '',
    ) -> None:
        """Draw the edges of a box."""
        box: dict[str, Any] = {'center': floats(center), 'half_extents': floats(half_extents)}
        turn = to_wire(quat)
        self._request('draw_box', color=floats(color), rotation_quat=turn, ttl=ttl, tag=tag, **box)

    def draw_axes(
        self,
        location: Vector,
        quat: Vector | None = None,
        scale: float = 0.2,
        ttl: float = 0.0,
        tag: str = '',
    ) -> None:
        """Draw x, y, z in red, green, blue, `scale` m long."""
        place: dict[str, Any] = {'location': floats(location), 'rotation_quat': to_wire(quat)}
        self._request('draw_axes', scale=scale, ttl=ttl, tag=tag, **place)

    def clear_markers(self, tag: str | None = None) -> None:
        """Remove all drawings, or those with a tag."""
        self._request('clear_markers', tag=tag)

    def set_overlay_text(self, text: str, anchor: str = 'top_left') -> None:
        """Show a line of text; '' removes it."""
        self._request('set_overlay_text', text=text, anchor=anchor)

    def read_markers(self) -> dict[str, Any]:
        """Return the current markers, text, anchor and camera (extension)."""
        return self._request('read_markers')

    def set_camera(
        self,
        location: Vector,
        quat: Vector | None = None,
        *,
        euler: Vector | None = None,
        fov: float | None = None,
    ) -> CameraPose:
        """Set the pose of the camera: it looks along its x axis, z is up."""
        place: dict[str, Any] = {'location': floats(location), 'rotation_quat': to_wire(quat)}
        return self._ask(CameraPose, 'set_camera', **place, rotation_euler=floats(euler), fov=fov)

    def get_camera(self) -> CameraPose:
        """Return the pose of the camera."""
        return self._ask(CameraPose, 'get_camera')

    def frame_actor(self, target: str, *, by_name: bool = False) -> CameraPose:
        """Move the camera so that it shows an actor."""
        return self._ask(CameraPose, 'frame_actor', **_target(target, by_name))

    def set_viewport_mode(self, mode: str) -> str:
        """Set the mode: lit, unlit, wireframe, collision or reflections."""
        return self._ask_for('mode', str, 'set_viewport_mode', mode=mode)

    def track_actor(
        self,
        target: str,
        offset: Vector | None = None,
        smoothing: float = 0.0,
        *,
        by_name: bool = False,
    ) -> str:
        """Make the camera follow an actor at `offset` (m, its frame); return the actor's path."""
        way: dict[str, Any] = {'offset': floats(offset), 'smoothing': smoothing}
        return self._ask_for(
            'tracked_actor_path', str, 'track_actor', **_target(target, by_name), **way
        )

    def untrack(self) -> bool:
        """Stop following; return whether the camera was following an actor."""
        return self._ask_for('was_tracking', bool, 'untrack')

    def import_xml(self, path: str, force_reimport: bool = False) -> Blueprint:
        """
        Make a blueprint of a file on the server's disk: MJCF, a sidecar with one robot, a mesh.

        :raises ImportFailed: with the compiler's message.
        """
        return self._ask(Blueprint, 'import_xml', path=str(path), force_reimport=force_reimport)

    def create_level(
        self, name: str, force_overwrite: bool = False, scene: str | None = None
    ) -> str:
        """Create and open a level, empty or from a scene file (extension); return its file."""
        return self._ask_for(
            'level_path',
            str,
            'create_level',
            name=name,
            force_overwrite=force_overwrite,
            scene=scene,
        )

    def load_level(self, name_or_path: str) -> str:
        """Open a level; play ends.  Return its file."""
        return self._ask_for('level_path', str, 'load_level', level_path=str(name_or_path))

    def save_level(self, name: str | None = None, force_overwrite: bool | None = None) -> str:
        """Save the open level, under another name when one is given (extension)."""
        return self._ask_for(
            'level_path', str, 'save_level', name=name, force_overwrite=force_overwrite
        )

    def current_level(self) -> str:
        """Return the file of the open level, '' when it has none."""
        return self._ask_for('level_path', str, 'current_level')

    def ensure_manager(self) -> bool:
        """Ensure that the level can be simulated; return whether it already could."""
        return self._ask_for('was_existing', bool, 'ensure_manager')

    def destroy_asset(self, asset_path: str) -> bool:
        """Delete a level or an imported blueprint; return whether it existed."""
        return self._ask_for('was_found', bool, 'destroy_asset', asset_path=asset_path)

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
        return self._ask(
            Spawned,
            'spawn_actor',
            blueprint=_class_path(blueprint),
            actor_id=actor_id,
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
            scale=floats(scale),
            physics=physics,
        )

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
        return self._ask(
            Spawned,
            'spawn_light',
            kind=kind,
            actor_id=actor_id,
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
            intensity=intensity,
            color=floats(color),
        )

    def duplicate_actor(
        self,
        target: str,
        new_actor_id: str,
        location: Vector | None = None,
        *,
        by_name: bool = False,
    ) -> Spawned:
        """Copy an actor; 1 m along x from it unless `location` is given."""
        return self._ask(
            Spawned,
            'duplicate_actor',
            **_target(target, by_name),
            new_actor_id=new_actor_id,
            location=floats(location),
        )

    def destroy_actor(self, target: str, *, by_name: bool = False) -> bool:
        """Remove an actor from the level; return whether play must be restarted for that."""
        return self._ask_for(
            'requires_pie_restart', bool, 'destroy_actor', **_target(target, by_name)
        )

    def remove_actor(self, target: str, *, by_name: bool = False) -> bool:
        """Remove an actor by the name that the op has had since July 2026, see `destroy_actor`."""
        return self._ask_for(
            'requires_pie_restart', bool, 'remove_actor', **_target(target, by_name)
        )

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
        return self._ask_for(
            'requires_pie_restart',
            bool,
            'set_actor_transform',
            **_target(target, by_name),
            location=floats(location),
            rotation_quat=to_wire(quat),
            rotation_euler=floats(euler),
        )

    def actor_hierarchy(self, target: str, *, by_name: bool = False) -> HierarchyNode:
        """Return an actor with the tree of its bodies."""
        return self._ask_for('root', HierarchyNode, 'actor_hierarchy', **_target(target, by_name))

    def snapshot(self) -> LevelSnapshot:
        """Return all actors with current poses, and the members of robots."""
        return self._ask(LevelSnapshot, 'snapshot')


def _target(target: str, by_name: bool) -> dict[str, Any]:
    """Return the fields that name an actor: by its id, or by its name."""
    return {'target': target, 'target_by': 'actor_name' if by_name else None}


def _class_path(blueprint: Blueprint | str) -> str:
    return blueprint.class_path if isinstance(blueprint, Blueprint) else blueprint
