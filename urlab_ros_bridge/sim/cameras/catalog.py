# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a world: mode, size and rate of each."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.sim.cameras.free_camera import free_camera_id
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import camera_topic
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.camera_frame import ucm1_topic
from urlab_ros_bridge.wire.rows import SCENE

DEFAULT_RESOLUTION = (640, 480)  # default of the stock plugin (Protocol Reference)
DEPTH, SEMANTIC, INSTANCE = 'depth', 'semantic', 'instance'


@dataclass(frozen=True, slots=True)
class CameraItem:
    """
    One camera.

    :ivar index: in the catalog.
    :ivar prefix: articulation, or ``scene`` for a camera of the world.
    :ivar name: local name; `key` is its name in replies.
    :ivar id: camera id in the compiled model.
    :ivar fovy: vertical field of view in degrees.
    :ivar rate: frames per second of simulated time.
    :ivar latency: sim seconds from capture to delivery; `jitter` is the standard deviation on top.
    :ivar body: compiled name of the body that carries the camera.
    :ivar depth_pair: name of the depth camera with the same view, or ''.
    :ivar free: it is a free camera, see `free_camera`; `fovy` is the initial one.
    """

    index: int
    prefix: str
    name: str
    key: str
    id: int
    mode: str
    width: int
    height: int
    fovy: float
    rate: float
    latency: float
    jitter: float
    seed: int
    body: str
    depth_pair: str
    free: bool = False

    @property
    def dtype(self) -> str:
        """Return ``float32`` for depth (m), else ``bgra8``."""
        return 'float32' if self.mode == DEPTH else 'bgra8'

    @property
    def size(self) -> int:
        """Return the bytes of one frame."""
        return self.width * self.height * BYTES_PER_PIXEL

    @property
    def topics(self) -> tuple[bytes, bytes]:
        """Return the PUB topics: bare pixels (stock), and with UCM1 header."""
        return camera_topic(self.prefix, self.name), ucm1_topic(self.prefix, self.name)


def read_catalog(model: mujoco.MjModel, spec: WorldSpec) -> tuple[CameraItem, ...]:
    """
    Return every camera of the model, by articulation and then of the scene.

    The settings of a camera in the sidecar are written into the model, so that every client's copy
    and every sensor that looks through the camera agree with the images.

    :raises WorldError: when the sidecar names a camera that the model does not have.
    """
    settings, order = _settings(model, spec), [art.prefix for art in spec.articulations]
    cameras = WorldModel(model, order).cameras
    owners = {camera.id: (camera.prefix or SCENE, camera.name) for camera in cameras}
    order.append(SCENE)
    ids = sorted(owners, key=lambda camera: (order.index(owners[camera][0]), camera))
    for camera in ids:
        _apply(model, camera, settings.get(camera, CameraSpec()))
    free = free_camera_id(model, spec.free_camera) if spec.free_camera else -1
    keys: set[str] = set()
    items = []
    for index, camera in enumerate(ids):
        prefix, name = owners[camera]
        key = name if name not in keys else f'{prefix}/{name}'
        keys.add(key)
        item = settings.get(camera, CameraSpec())
        width, height = model.cam_resolution[camera].tolist()
        items.append(
            CameraItem(
                index=index,
                prefix=prefix,
                name=name,
                key=key,
                id=camera,
                mode=item.mode,
                width=width,
                height=height,
                fovy=float(model.cam_fovy[camera]),
                rate=item.rate,
                latency=item.latency,
                jitter=item.jitter,
                seed=item.seed,
                body=model.body(int(model.cam_bodyid[camera])).name or 'world',
                depth_pair=_depth_pair(model, camera, item, owners, settings),
                free=camera == free,
            )
        )
    return tuple(items)


def _settings(model: mujoco.MjModel, spec: WorldSpec) -> dict[int, CameraSpec]:
    groups: list[tuple[str, str, Mapping[str, CameraSpec]]] = [
        (f'{art.prefix}_', f'{art.prefix}: cameras', art.cameras) for art in spec.articulations
    ]
    groups.append(('', 'global_cameras', spec.global_cameras))
    found = {}
    for prefix, where, cameras in groups:
        for name, camera in cameras.items():
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, prefix + name)
            if number < 0:
                error = unknown('bad_value', 'camera', name, _names(model, prefix))
                raise WorldError(f'{spec.source}: {where}: {error}')
            found[number] = camera
    return found


def _names(model: mujoco.MjModel, prefix: str) -> Iterable[str]:
    names = (model.camera(camera).name for camera in range(model.ncam))
    return [name[len(prefix) :] for name in names if name.startswith(prefix)]


def _apply(model: mujoco.MjModel, camera: int, spec: CameraSpec) -> None:
    """Write size and field of view into the model."""
    if spec.resolution is not None:
        model.cam_resolution[camera] = spec.resolution
    elif tuple(model.cam_resolution[camera]) == (1, 1):  # MuJoCo's "not given"
        model.cam_resolution[camera] = DEFAULT_RESOLUTION
    model.cam_resolution[camera] = np.clip(model.cam_resolution[camera], 1, MAX_SIDE)
    if spec.fovy is not None:
        model.cam_fovy[camera] = spec.fovy
        model.cam_sensorsize[camera] = 0.0  # else the lens would win over fovy


def _depth_pair(
    model: mujoco.MjModel,
    camera: int,
    spec: CameraSpec,
    owners: Mapping[int, tuple[str, str]],
    settings: Mapping[int, CameraSpec],
) -> str:
    """Return the name of the depth camera with the same place, lens and size."""
    if spec.mode == DEPTH:
        return ''
    for other, settings_of_other in settings.items():
        prefix, name = owners[other]
        if settings_of_other.mode != DEPTH or prefix != owners[camera][0]:
            continue
        if all(
            np.allclose(getattr(model, field)[other], getattr(model, field)[camera], atol=1e-9)
            for field in _VIEW_FIELDS
        ):
            return name
    return ''


_VIEW_FIELDS = (
    'cam_bodyid',
    'cam_mode',
    'cam_targetbodyid',
    'cam_pos',
    'cam_quat',
    'cam_fovy',
    'cam_resolution',
    'cam_sensorsize',
    'cam_intrinsic',
)


def listener_of(camera: int, listeners: int) -> int:
    """
    Return which of the listening sockets serves a camera; cameras may share one.

    >>> [listener_of(camera, 2) for camera in range(5)]
    [0, 1, 0, 1, 0]
    """
    return camera % listeners
