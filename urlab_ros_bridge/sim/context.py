# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One running world with everything around it: what most op handlers work on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import uuid

from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.control import ArticulationControl
from urlab_ros_bridge.sim.engine import Engine
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.lidar import Lidar
from urlab_ros_bridge.sim.live import LiveLoop
from urlab_ros_bridge.sim.noise import RangeNoise
from urlab_ros_bridge.sim.noise import SensorNoise
from urlab_ros_bridge.sim.observations import Observer
from urlab_ros_bridge.sim.paths import DataFolder
from urlab_ros_bridge.sim.randomize import Randomizer
from urlab_ros_bridge.sim.recorder import Recorder
from urlab_ros_bridge.sim.replay import Replay
from urlab_ros_bridge.sim.sensing import Sensing
from urlab_ros_bridge.sim.specs import ArticulationSpec
from urlab_ros_bridge.sim.transports.control_stream import StreamCounters
from urlab_ros_bridge.sim.world import World


@dataclass(frozen=True, slots=True)
class Context:
    """
    The parts of one world.

    `config` and `data` are the stage's and outlive it.

    :ivar run: names this run; a changed world that goes on where another was has its name.
    """

    config: ServerConfig
    world: World
    engine: Engine
    observer: Observer
    live: LiveLoop
    recorder: Recorder
    replay: Replay
    data: DataFolder
    cameras: CameraRig
    inbound: StreamCounters = field(default_factory=StreamCounters)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    randomizer: Randomizer = field(default_factory=Randomizer)


def build_context(
    config: ServerConfig,
    data: DataFolder,
    world: World,
    before: Context | None = None,
) -> Context:
    """
    Put controllers, scanners and the engine around a world; no threads, no sockets.

    :param before: the world whose place this one will take, if any.
    :raises WorldError: when a sidecar names a scanner or camera that the model does not have.
    """
    controls, lidars, noises = {}, {}, []
    for spec in world.spec.articulations:
        articulation = world.articulations[spec.prefix]
        controls[spec.prefix] = ArticulationControl(world.model, world.data, articulation, spec)
        lidars[spec.prefix] = _scanners(world, spec)
        noises += _noises(world, spec, lidars[spec.prefix])
    scanners = [lidar for group in lidars.values() for lidar in group]
    sensing = Sensing(scanners, noises)
    engine = Engine(world, controls, lidars, config.step_mode, config.paused, sensing)
    recorder = Recorder(engine)
    made = Context(
        config,
        world,
        engine,
        Observer(engine),
        LiveLoop(engine),
        recorder,
        Replay(engine, recorder),
        data,
        CameraRig(engine),
    )
    return made if before is None else replace(made, inbound=before.inbound, run=before.run)


def _scanners(world: World, spec: ArticulationSpec) -> list[Lidar]:
    sensors = world.articulations[spec.prefix].local('sensors')
    found = []
    for name, lidar_spec in spec.lidars.items():
        _check_sensor(world, 'lidars', name, sensors)
        lidar = Lidar(world.model, sensors[name], lidar_spec)
        lidar.name = name
        found.append(lidar)
    return found


def _noises(world: World, spec: ArticulationSpec, lidars: list[Lidar]) -> list[SensorNoise]:
    """Give scanners their noise, and return that of the other sensors."""
    sensors = {sensor.name: sensor for sensor in world.articulations[spec.prefix].sensors}
    scanners = {lidar.name: lidar for lidar in lidars}
    others = {}
    for name, noise in spec.noise.items():
        _check_sensor(world, 'noise', name, sensors)
        lidar = scanners.get(name)
        if lidar is None:
            others[name] = noise
        else:
            seed = (world.spec.noise_seed, f'{spec.prefix}/{name}')
            lidar.noise = RangeNoise(noise, lidar.spec.range_max, seed)
    if not others:
        return []
    return [SensorNoise(world.model, sensors, others, (world.spec.noise_seed, spec.prefix))]


def _check_sensor(world: World, key: str, name: str, sensors: Iterable[str]) -> None:
    if name not in sensors:
        error = unknown('bad_value', 'sensor', name, sensors)
        raise WorldError(f'{world.spec.source}: {key}: {error}')
