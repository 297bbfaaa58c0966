# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From a `hello` reply to a typed `Handshake`; total: a value or a `ProtocolError`."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.handshake import Articulation
from urlab_ros_bridge.client.handshake import Camera
from urlab_ros_bridge.client.handshake import Entity
from urlab_ros_bridge.client.handshake import Handshake
from urlab_ros_bridge.client.handshake import Lidar
from urlab_ros_bridge.client.handshake import TwistController
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE


def parse_handshake(reply: dict[str, Any]) -> Handshake:
    """
    Read a `hello_ok` reply (also the `handshake_payload` of `begin_pie`).

    :raises ProtocolError: for a reply without session id, or with a field of the wrong kind.
    """
    where = 'hello_ok'
    session_id = f.text(reply, 'session_id', where)
    if not session_id:
        raise ProtocolError('hello_ok carries no session_id')
    mjb = reply.get('mjb') or b''
    if not isinstance(mjb, bytes):
        raise f.wrong(f'{where}.mjb', mjb, 'binary')
    robots = [_articulation(value) for value in _list(reply, 'articulations', where)]
    return Handshake(
        session_id=session_id,
        urlab_version=f.text(reply, 'urlab_version', where),
        mujoco_version=f.text(reply, 'mujoco_version', where),
        manager_present=f.flag(reply, 'manager_present', where, True),
        shm_session_dir=f.text(reply, 'shm_session_dir', where),
        articulations={robot.prefix: robot for robot in robots},
        entities={
            name: _entity(name, value)
            for name, value in f.map_of_maps(reply, 'entities', where).items()
        },
        global_cameras=_cameras(reply, 'global_cameras', '', where),
        depth_unit=f.text(reply, 'depth_unit', where, 'cm'),
        extensions=frozenset(str(name) for name in _list(reply, 'extensions', where)),
        timestep=f.number(reply, 'timestep', where, 0.0) or None,
        world=f.text(reply, 'world', where),
        mjb=mjb,
        mjcf_compiled=f.text(reply, 'mjcf_compiled', where),
        vfs_assets=_files(reply, where),
        raw={
            key: value for key, value in reply.items() if key not in ('mjb_base64', 'mjb__b64__')
        },
    )


def _files(reply: dict[str, Any], where: str) -> dict[str, bytes]:
    files = f.mapping(reply, 'vfs_assets', where)
    for name, content in files.items():
        if not isinstance(content, bytes):
            raise f.wrong(f'{where}.vfs_assets.{name}', content, 'binary')
    return files


def _list(fields: dict[str, Any], key: str, where: str) -> list[Any]:
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise f.wrong(f'{where}.{key}', value, 'a list')
    return value


def _articulation(value: Any) -> Articulation:
    where = 'hello_ok.articulations[]'
    if not isinstance(value, dict):
        raise f.wrong(where, value, 'a map')
    prefix = f.text(value, 'prefix', where)
    if not prefix:
        raise ProtocolError(f'{where} has no prefix')
    where = f'articulation {prefix}'
    names = f.map_of_maps(value, 'original_names', where)
    return Articulation(
        prefix=prefix,
        actor_id=f.text(value, 'actor_id', where),
        default_control_mode=f.text(value, 'default_control_mode', where, 'raw'),
        controller=f.mapping(value, 'controller', where),
        actuator_types=f.texts(value, 'actuator_types', where),
        original_names={kind: f.texts(names, kind, where) for kind in names},
        cameras=_cameras(value, 'camera_topics', prefix, where),
        twist_controller=_twist_controller(value, where),
        lidars={
            name: _lidar(name, lidar)
            for name, lidar in f.map_of_maps(value, 'lidars', where).items()
        },
        frames=f.texts(value, 'frames', where),
        covariances=f.mapping(value, 'covariances', where),
    )


def _cameras(fields: dict[str, Any], key: str, prefix: str, where: str) -> dict[str, Camera]:
    cameras = {}
    for name, value in f.map_of_maps(fields, key, where).items():
        place = f'{where}.{key}.{name}'
        size = value.get('resolution')
        resolution = f.vector(value, 'resolution', place) if size is not None else (640, 480)
        if len(resolution) != 2 or not all(0 < side <= MAX_SIDE for side in resolution):
            raise f.wrong(f'{place}.resolution', size, f'[width, height] up to {MAX_SIDE}')
        path = f'{prefix}/camera/{name}' if prefix else f'camera/{name}'
        mode = f.text(value, 'mode', place, 'real')
        cameras[name] = Camera(
            name,
            mode,
            (int(resolution[0]), int(resolution[1])),
            f.number(value, 'fovy', place, 45.0),
            f.text(value, 'zmq_endpoint', place),
            f.text(value, 'zmq_topic', place, path).rstrip(' '),
            f.number(value, 'rate', place, 0.0),
            f.text(value, 'body', place),
            'float32' if mode == 'depth' else 'bgra8',
            f.text(value, 'depth_pair', place),
            f.number(value, 'latency', place, 0.0),
            _labels(value, place),
        )
    return cameras


def _labels(camera: dict[str, Any], place: str) -> dict[tuple[int, int, int], str]:
    found = {}
    for name in f.mapping(camera, 'labels', place):
        color = f.vector(camera['labels'], name, f'{place}.labels')
        if len(color) != 3 or not all(0 <= part <= 255 for part in color):
            raise f.wrong(f'{place}.labels.{name}', camera['labels'][name], '[b, g, r]')
        blue, green, red = (int(part) for part in color)
        found[blue, green, red] = str(name)
    return found


def _twist_controller(fields: dict[str, Any], where: str) -> TwistController | None:
    value = f.mapping(fields, 'twist_controller', where)
    if not value:
        return None
    where += '.twist_controller'
    return TwistController(
        f.text(value, 'kind', where),
        f.numbers(value, 'limits', where),
        f.number(value, 'timeout', where, 0.0),
    )


def _lidar(name: str, value: dict[str, Any]) -> Lidar:
    where = f'lidar {name}'
    angles = [
        f.number(value, key, where)
        for key in ('angle_min', 'angle_max', 'range_min', 'range_max', 'rate')
    ]
    return Lidar(name, *angles, f.integer(value, 'rays', where), f.text(value, 'site', where))


def _entity(name: str, value: dict[str, Any]) -> Entity:
    where = f'entity {name}'
    return Entity(
        name,
        f.integer(value, 'id', where, -1),
        f.flag(value, 'has_free_base', where),
        f.text(value, 'free_joint', where),
        *(
            f.integer(value, key, where, -1)
            for key in ('free_joint_id', 'qpos_offset', 'qvel_offset')
        ),
    )
