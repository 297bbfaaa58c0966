# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The editor of a server: levels and actors, play, drawings and the viewport.

`Client.editor` is one.  A server without an editor answers `NotInEditor` to everything here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from urlab_ros_bridge.client.editor.replies import Actor
from urlab_ros_bridge.client.editor.replies import ActorBounds
from urlab_ros_bridge.client.editor.replies import Blueprint
from urlab_ros_bridge.client.editor.replies import CameraPose
from urlab_ros_bridge.client.editor.replies import Play
from urlab_ros_bridge.client.editor.replies import to_wire
from urlab_ros_bridge.client.editor.scene import floats
from urlab_ros_bridge.client.editor.scene import SceneOps
from urlab_ros_bridge.client.editor.scene import target_fields
from urlab_ros_bridge.client.editor.scene import Vector
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.session import Session

REPLY_SLACK = 5.0  # s added to the server's own deadline
_CLOSE_TIMEOUT = 15.0  # s; the server waits for the threads of the world


class Editor(SceneOps):
    """
    The ops of the editor, by the names of the wire.

    `target` is an actor's id, or its name with ``by_name=True``.  Every method raises the
    `RemoteError` subclass of the server's error code, as those of `Client` do.
    """

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
        return read_reply(Play, self._request('pie_status'))

    def list_actors(self) -> tuple[Actor, ...]:
        """Return the actors of the level."""
        return read_field(self._request('list_actors'), 'actors', tuple[Actor, ...])

    def find_actors(
        self,
        class_filter: str | None = None,
        tag: str | None = None,
        name_prefix: str | None = None,
        in_pie: bool = False,
    ) -> tuple[Actor, ...]:
        """Return the actors that pass every given filter, of the running world with `in_pie`."""
        reply = self._request(
            'find_actors',
            class_filter=class_filter,
            tag=tag,
            name_prefix=name_prefix,
            in_pie=in_pie,
        )
        return read_field(reply, 'actors', tuple[Actor, ...])

    def list_blueprints(self) -> tuple[Blueprint, ...]:
        """Return the blueprints that `spawn_actor` can use."""
        return read_field(self._request('list_blueprints'), 'blueprints', tuple[Blueprint, ...])

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
        reply = self._request('get_actor_bounds', **target_fields(target, by_name), **fields)
        return read_reply(ActorBounds, reply)

    def select_actor(self, target: str, *, by_name: bool = False) -> None:
        """Select one actor."""
        self._request('select_actor', **target_fields(target, by_name))

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
        Let an object take part in physics: it moves, or (`static`) stays, or is moved by clients.

        :param complex_mesh: one convex hull for each connected part of the mesh.
        """
        self._request(
            'add_quick_convert',
            **target_fields(target, by_name),
            static=static,
            driven_by_unreal=driven_by_unreal,
            complex_mesh=complex_mesh,
            friction=floats(friction),
        )

    def remove_quick_convert(self, target: str, *, by_name: bool = False) -> None:
        """Make an object visual-only from the next play."""
        self._request('remove_quick_convert', **target_fields(target, by_name))

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
        reply = self._request('set_camera', **place, rotation_euler=floats(euler), fov=fov)
        return read_reply(CameraPose, reply)

    def get_camera(self) -> CameraPose:
        """Return the pose of the camera."""
        return read_reply(CameraPose, self._request('get_camera'))

    def frame_actor(self, target: str, *, by_name: bool = False) -> CameraPose:
        """Move the camera so that it shows an actor."""
        reply = self._request('frame_actor', **target_fields(target, by_name))
        return read_reply(CameraPose, reply)

    def set_viewport_mode(self, mode: str) -> str:
        """Set the mode: lit, unlit, wireframe, collision or reflections."""
        return read_field(self._request('set_viewport_mode', mode=mode), 'mode', str)

    def track_actor(
        self,
        target: str,
        offset: Iterable[float] | None = None,
        smoothing: float = 0.0,
        *,
        by_name: bool = False,
    ) -> str:
        """Make the camera follow an actor at `offset` (m, its frame); return the actor's path."""
        way: dict[str, Any] = {'offset': floats(offset), 'smoothing': smoothing}
        reply = self._request('track_actor', **target_fields(target, by_name), **way)
        return read_field(reply, 'tracked_actor_path', str)

    def untrack(self) -> bool:
        """Stop following; return whether the camera was following an actor."""
        return read_field(self._request('untrack'), 'was_tracking', bool)


class EditorAccess(Session):
    """A session with the attribute `editor`."""

    @property
    def editor(self) -> Editor:
        """Return the ops of the server's editor."""
        return Editor(self)
