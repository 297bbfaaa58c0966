# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The hello_ok payload: what the compiled model cannot carry (Protocol Reference, "hello")."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import mujoco

from urlab_ros_bridge import __version__
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog import INSTANCE
from urlab_ros_bridge.sim.cameras.catalog import SEMANTIC
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.twists import AckermannSection
from urlab_ros_bridge.sim.model.sidecar.twists import DifferentialSection
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.sim.streams.assets import reloadable_model
from urlab_ros_bridge.wire.rows import SCENE

HEADER = 'ucm1'  # value of the hello option `camera_header`


def camera_topics(rig: CameraRig, prefix: str, header: str = '') -> dict[str, dict[str, Any]]:
    """
    Return the cameras of an articulation, or of the world with the prefix ``scene``.

    :param header: ``ucm1`` names the topic whose frames have headers.
    """
    return {
        item.name: _block(rig, item, header == HEADER)
        for item in rig.items
        if item.prefix == prefix
    }


def _block(rig: CameraRig, item: CameraItem, framed: bool) -> dict[str, Any]:
    block: dict[str, Any] = {
        'mode': item.mode,
        'resolution': [item.width, item.height],
        'fovy': float(rig.engine.world.model.cam_fovy[item.id]),
        'zmq_endpoint': rig.endpoints[item.index],
        'zmq_topic': item.topics[framed].decode().rstrip(' '),
        'rate': item.rate,
        'body': item.body.removeprefix(f'{item.prefix}_'),
        'encoding': item.dtype,
    }
    if item.depth_pair:
        block['depth_pair'] = item.depth_pair
    if item.latency or item.jitter:
        block['latency'], block['jitter'] = item.latency, item.jitter
    if item.mode in (SEMANTIC, INSTANCE):
        labels = label_map(rig.engine.world.model, rig.prefixes, item.mode)
        block['labels'] = {name: list(color) for name, color in labels.colors.items()}
    return block


EXTENSIONS = (
    'shared_session',
    'sim_time_row',
    'effort_row',
    'keep_time',
    'keep_state',
    'reset_robot',
    'twist_timeout',
    'step_while_paused',
    'step_while_live',
    'status',
    'replay_frame',
    'randomize',
    'camera_header',
    'live_cameras',
    'apply_wrench',
    'pull_body',
    'setpoints',
    'wall_timeout',
    'shm_channel',
    'entities',
    'spawn',
    'scan_stamps',
    'ports',
    'push_by_joint',
    'recording_name',
    'start_keyframe',
    'step_twist',
    'reset_count',
    'snapshot_level',
    'step_topics',
    'forward_observations',
    'recording_overwrite',
    'divergence',
    'published_state',
    'e_stop',
    'recording_list',
    'point_lidars',
    'navigation_targets',
    'robot_resets',
)


def hello_reply(
    host: SimulationHost, simulation: Simulation | None, session: ServerSession, revision: int
) -> dict[str, Any]:
    """
    Return what the hello of a session is answered now.

    begin_pie and the ops that change a world hand the same out as `handshake_payload`.

    :param simulation: the running one, None when there is none.
    :param revision: of the world, as the host counts.
    """
    reply = {'op': 'hello_ok', 'session_id': session.id, **_server(host)}
    if simulation is None:
        reply.update(manager_present=False, articulations=[])
    else:
        reply.update(_world(host, simulation, session.camera_header))
        if session.include_assets:
            reply.update(reloadable_model(simulation))
    reply['world_revision'] = revision
    return reply


def _server(host: SimulationHost) -> dict[str, Any]:
    return {
        'urlab_version': f'urlab/{__version__}',
        'mujoco_version': mujoco.mj_versionString(),
        'mujoco_version_int': mujoco.mj_version(),
        'extensions': list(EXTENSIONS),
        'ports': dict(host.ports),
    }


def _world(host: SimulationHost, simulation: Simulation, camera_header: str) -> dict[str, Any]:
    """
    Return the fields that describe the running world.

    :param camera_header: header that the session wants in front of camera frames, '' for none.
    """
    world = simulation.world
    specs = {spec.prefix: spec for spec in world.spec.articulations}
    mjb = simulation.cached('mjb', world.compiled_model)
    start = simulation.cached('start_qpos', world.start_qpos)
    return {
        'manager_present': True,
        'shm_session_dir': host.shm_dir,
        **({} if host.shm is None else host.shm.rpc_block()),
        'mjb': mjb,
        'mjb_size': len(mjb),
        'articulations': [
            articulation_block(simulation, articulation, specs[prefix], camera_header)
            for prefix, articulation in world.articulations.items()
        ],
        'entities': {name: _entity_block(simulation, name) for name in world.entities},
        'global_cameras': camera_topics(simulation.cameras, SCENE, camera_header),
        'depth_unit': 'm',
        'world': world.name,
        'run': simulation.run,
        'timestep': world.model.opt.timestep,
        'qpos_joints': [world.model.joint(joint).name for joint in range(world.model.njnt)],
        **({} if start is None else {'start_qpos': start.tolist()}),
        **divergence_block(simulation.engine),
    }


def divergence_block(engine: Engine) -> dict[str, Any]:
    """Return the field `divergence` of handshake and status; empty while all is well."""
    found = engine.divergence
    return {} if found is None else {'divergence': found.report()}


def articulation_block(
    simulation: Simulation,
    articulation: RobotModel,
    spec: ArticulationSpec,
    camera_header: str = '',
) -> dict[str, Any]:
    """Return one entry of the articulations block, extensions included."""
    control = simulation.engine.controls[articulation.prefix]
    block: dict[str, Any] = {
        'prefix': articulation.prefix,
        'actor_id': articulation.actor_id,
        'default_control_mode': control.default_mode,
        'actuator_types': {
            actuator.name: actuator.authored_kind for actuator in articulation.actuators.values()
        },
        'original_names': {'actuators': {}, 'joints': {}, 'sensors': {}, 'bodies': {}},
        'camera_topics': camera_topics(simulation.cameras, articulation.prefix, camera_header),
        'lidars': {
            lidar.name: lidar.describe()
            for lidar in simulation.engine.sensing.lidars[articulation.prefix]
        },
        'point_lidars': {
            lidar.name: lidar.describe()
            for lidar in simulation.engine.sensing.point_lidars[articulation.prefix]
        },
        'frames': dict(spec.frames),
        'covariances': {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in spec.covariances.items()
        },
    }
    if spec.gripper:
        block['grippers'] = {name: list(joints) for name, joints in spec.gripper.items()}
    if spec.joint_limits:
        block['joint_limits'] = {
            name: {key: value for key, value in asdict(each).items() if value is not None}
            for name, each in spec.joint_limits.items()
        }
    if spec.sensor_topics:
        block['sensor_topics'] = {
            name: {'topic': each.topic, **({} if each.rate is None else {'rate': each.rate})}
            for name, each in spec.sensor_topics.items()
        }
    return {**block, **_controllers(control, spec)}


def _controllers(control: ArticulationControl, spec: ArticulationSpec) -> dict[str, Any]:
    """Return the blocks of the controllers that are attached."""
    found: dict[str, Any] = {}
    if control.controller is not None:
        found['controller'] = {
            'kind': control.controller.kind,
            'params': control.controller.params(),
            'schema': control.controller.schema(),
        }
    if control.twist is not None:
        found['twist_controller'] = {
            'kind': spec.twist.kind,
            'limits': control.twist.limits(),
            'timeout': spec.twist.timeout,
            'actuators': control.twist.actuators,
        }
        if control.twist.wheel_matrix:
            found['twist_controller']['wheel_matrix'] = control.twist.wheel_matrix
        if isinstance(spec.twist, DifferentialSection | AckermannSection):
            found['twist_controller']['axle'] = spec.twist.axle
    return found


def _entity_block(simulation: Simulation, name: str) -> dict[str, Any]:
    entity = simulation.world.entities[name]
    block: dict[str, Any] = {'id': entity.body, 'has_free_base': entity.free is not None}
    if entity.free is not None:
        block.update(
            free_joint=entity.free.compiled,
            free_joint_id=entity.free.id,
            qpos_offset=entity.free.qpos_address,
            qvel_offset=entity.free.dof_address,
        )
    return block
