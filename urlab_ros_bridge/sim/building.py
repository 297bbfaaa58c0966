# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Building a simulation around a world: its controllers, scanners, noise, engine and cameras."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.client_models import ClientModels
from urlab_ros_bridge.sim.model.client_models import integration_state
from urlab_ros_bridge.sim.model.client_models.limits import CAMERA_PIXELS
from urlab_ros_bridge.sim.model.client_models.limits import CAMERAS
from urlab_ros_bridge.sim.model.client_models.limits import RAY_TESTS
from urlab_ros_bridge.sim.model.client_models.limits import too_large
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.observe.observer import Observer
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.live import LiveLoop
from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.sim.physics.noise import RangeNoise
from urlab_ros_bridge.sim.physics.noise import SensorNoise
from urlab_ros_bridge.sim.physics.point_lidar import PointLidar
from urlab_ros_bridge.sim.physics.rays import RayTargets
from urlab_ros_bridge.sim.physics.recorder import StateRecorder
from urlab_ros_bridge.sim.physics.replay import Replay
from urlab_ros_bridge.sim.physics.run_state import ExecutionState
from urlab_ros_bridge.sim.physics.sensing import RayScanner
from urlab_ros_bridge.sim.physics.sensing import Sensing
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.simulation import Simulation


def build_simulation(
    config: ServerConfig,
    data: DataFolder,
    world: World,
    before: Simulation | None = None,
) -> Simulation:
    """
    Put controllers, scanners and the engine around a world; no threads, no sockets.

    :param before: the world whose place this one will take, if any.
    :raises WorldError: when a sidecar names a scanner or camera that the model does not have.
    """
    controls, lidars, point_lidars, noises = {}, {}, {}, []
    targets = RayTargets(world.model)
    for spec in world.spec.articulations:
        articulation = world.articulations[spec.prefix]
        control = ArticulationControl(world.model, world.data, articulation, spec)
        control.reset(world.start_ctrl(spec.prefix))
        controls[spec.prefix] = control
        lidars[spec.prefix] = _scanners(world, spec, targets)
        point_lidars[spec.prefix] = [
            PointLidar(world, spec.prefix, name, lidar, targets)
            for name, lidar in spec.lidars.items()
            if lidar.rings is not None
        ]
        for name in spec.joint_limits:
            _check_sensor(world, 'joint_limits', name, articulation.joints)
        for name in spec.sensor_topics:
            known = (*articulation.sensors, *articulation.sites)
            _check_sensor(world, 'sensor_topics', name, known)
        noises += _noises(world, spec, (*lidars[spec.prefix], *point_lidars[spec.prefix]))
    run = ExecutionState(ModelLock(), config.step_mode, config.paused, config.speed)
    engine = Engine(world, controls, Sensing(lidars, noises, point_lidars), run)
    recorder = StateRecorder(engine)
    made = Simulation(
        config,
        world,
        engine,
        Observer(engine, config.dialect),
        LiveLoop(engine),
        recorder,
        Replay(engine, recorder),
        data,
        CameraRig(engine),
    )
    if before is None:
        return made
    return replace(
        made,
        claims=before.claims,
        inbound=before.inbound,
        navigation=before.navigation,
        run=before.run,
    )


def check_world(
    models: ClientModels, simulation: Simulation, before: Simulation | None = None
) -> None:
    """
    Try a world that a client has changed, before it runs.

    :param before: the world whose place it will take: what that has already may stay.
    :raises OpError: import_failed, shutting_down.
    """
    model, data = simulation.world.model, simulation.world.data
    sizes, known = _sensing_sizes(simulation), _sensing_sizes(before) if before else {}
    for (what, limit), size in sizes.items():
        if size > max(limit, known.get((what, limit), 0)):
            raise too_large(f'{what} of the world', size, limit)
    models.check_steps(model, integration_state(model, data))


def _sensing_sizes(simulation: Simulation) -> dict[tuple[str, int], int]:
    """Return how much the cameras and scanners of a world have to do, by name and limit."""
    model, cameras = simulation.world.model, simulation.cameras.items
    sensing = simulation.engine.sensing
    rays = sum(lidar.rays for group in sensing.lidars.values() for lidar in group)
    rays += sum(
        lidar.rings * lidar.columns for group in sensing.point_lidars.values() for lidar in group
    )
    return {
        ('cameras', CAMERAS): len(cameras),
        ('pixels of cameras', CAMERA_PIXELS): sum(each.width * each.height for each in cameras),
        # Each ray of a scanner is held against every geom, and every point of a height field.
        ('tests of rays', RAY_TESTS): rays * (model.ngeom + model.nhfielddata),
    }


def _scanners(world: World, spec: ArticulationSpec, targets: RayTargets) -> list[RayScanner]:
    sensors = world.articulations[spec.prefix].sensors
    found = []
    for name, lidar_spec in spec.lidars.items():
        if lidar_spec.rings is not None:
            continue
        _check_sensor(world, 'lidars', name, sensors)
        lidar = RayScanner(world.model, sensors[name].id, lidar_spec, targets)
        lidar.name = name
        found.append(lidar)
    return found


def _noises(
    world: World, spec: ArticulationSpec, lidars: Iterable[RayScanner | PointLidar]
) -> list[SensorNoise]:
    """Set the noise of scanners, and return that of the other sensors."""
    sensors = world.articulations[spec.prefix].sensors
    scanners = {lidar.name: lidar for lidar in lidars}
    others = {}
    for name, noise in spec.noise.items():
        _check_sensor(world, 'noise', name, {**sensors, **scanners})
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
