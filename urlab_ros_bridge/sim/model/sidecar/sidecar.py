# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The sidecar: a YAML file that describes what an MJCF file cannot.

Robots with their prefixes, controllers, cameras, scanners, ROS frames and covariances.
docs/sidecar.md is the user's page for this schema.  Names of joints, actuators, sensors and
cameras are not looked up here: that needs the compiled model, and is done where they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import os
from pathlib import Path

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.sim.model.sidecar.readers import file
from urlab_ros_bridge.sim.model.sidecar.readers import named
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.readers import text
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec
from urlab_ros_bridge.sim.model.sidecar.specs import LightSpec
from urlab_ros_bridge.sim.model.sidecar.specs import MAX_SEED
from urlab_ros_bridge.sim.model.sidecar.specs import ObjectSpec
from urlab_ros_bridge.sim.model.sidecar.specs import RenderSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.wire.names import prefix_problem


def _articulations(place: Place) -> tuple[ArticulationSpec, ...]:
    robots: list[ArticulationSpec] = []
    for item in place.items():
        robot = read(ArticulationSpec, item)
        _check_unique(robot, robots, item)
        robots.append(robot)
    return tuple(robots)


def _check_unique(robot: ArticulationSpec, others: list[ArticulationSpec], item: Place) -> None:
    problem = prefix_problem(robot.prefix, [other.prefix for other in others])
    if problem:
        raise item.child('prefix').fail(problem)
    for other in others:
        if robot.actor_id in (other.actor_id, other.prefix) or other.actor_id == robot.prefix:
            raise item.fail(f'the actor_id {robot.actor_id!r} belongs to {other.prefix!r} too')


@dataclass(frozen=True, slots=True)
class SidecarFile:
    """The top of a sidecar."""

    scene: Path | None = key(None, 'MJCF file of the scene; null for an empty one.', parse=file)
    articulations: tuple[ArticulationSpec, ...] = key((), 'Robots.', parse=_articulations)
    objects: tuple[ObjectSpec, ...] = key((), 'Things.', parse=named(ObjectSpec))
    lights: tuple[LightSpec, ...] = key((), 'Lights.', parse=named(LightSpec))
    global_cameras: dict[str, CameraSpec] = key(factory=dict, text='Cameras of the scene.')
    rendering: RenderSpec = key(factory=RenderSpec, text='Rendering quality.')
    noise_seed: int = key(0, 'Starts the noise.', low=0, high=MAX_SEED)
    start_keyframe: str = key('', 'Keyframe that the world starts in.', parse=text)


def load_sidecar(path: Path | str) -> WorldSpec:
    """
    Read a sidecar.

    Without the key `scene` the scene is the .xml beside the file with the same stem, unless it
    is missing or already the model of an articulation.

    Raises
    ------
    SidecarError
        The file cannot be read, or it breaks the schema: the message names file and key path.
    """
    return parse_sidecar(read_yaml(Path(path), SidecarError))


def parse_sidecar(top: Place) -> WorldSpec:
    """
    Check the content of a sidecar, from a file or another source.

    Raises
    ------
    SidecarError
        As `load_sidecar`.
    """
    path = Path(top.source)
    content = read(SidecarFile, top)
    stated = 'scene' in top.mapping()
    scene = content.scene if stated else _scene_beside(path, content.articulations)
    if scene is None and not (stated or content.articulations or content.objects):
        raise top.fail('describes nothing: it needs a scene or articulations')
    return WorldSpec(
        scene,
        content.articulations,
        content.global_cameras,
        path,
        content.rendering,
        content.noise_seed,
        content.objects,
        content.lights,
        start_keyframe=content.start_keyframe,
    )


def named_files(top: Place) -> Iterator[tuple[str, Path]]:
    """
    Yield the files that the content of a sidecar names, as written and where they would be.

    Nothing is checked, so that a client can be refused before it learns which files exist.
    """
    folder = Path(top.source).parent
    content = top.value if isinstance(top.value, dict) else {}
    entries = [(content, 'scene')]
    for group, field in (('articulations', 'model'), ('objects', 'file')):
        items = content.get(group)
        entries += [(item, field) for item in (items if isinstance(items, list) else [])]
    for entry, field in entries:
        written = entry.get(field) if isinstance(entry, dict) else None
        if isinstance(written, str) and '\0' not in written:
            yield written, Path(os.path.realpath(folder / written))


def _scene_beside(path: Path, robots: tuple[ArticulationSpec, ...]) -> Path | None:
    beside = path.with_suffix('.xml')
    if not os.path.isfile(beside):
        return None
    beside = beside.resolve()
    return None if any(robot.model == beside for robot in robots) else beside
