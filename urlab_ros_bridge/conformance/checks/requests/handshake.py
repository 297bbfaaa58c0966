# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello_ok: every block, its fields and types, and that it fits the model that it ships."""

from __future__ import annotations

from pathlib import PurePosixPath
from pathlib import PureWindowsPath
import re

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import is_integer
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import CAMERA_MODES

ZMQ = ('zmq',)
ARTICULATIONS = 'Articulations block'
ENTITIES = 'Entities block'
ACTUATOR_KINDS = (
    'motor', 'position', 'velocity', 'intvelocity', 'damper', 'cylinder', 'muscle', 'adhesion',
    'dcmotor', 'general',
)  # fmt: skip
FREE_FIELDS = ('free_joint', 'free_joint_id', 'qpos_offset', 'qvel_offset')
ORIGINALS = ('actuators', 'joints', 'sensors', 'bodies')
_ENDPOINT = re.compile(r'tcp://[^/\s:]+:\d{1,5}')


@check('hello.fields', PROTOCOL, 'hello', 'Reply (hello_ok), notable fields', transports=ZMQ)
def fields(peer: Peer) -> None:
    """hello_ok has session, versions, manager_present, shm directory, model and the blocks."""
    reply = peer.hello()
    for name, kind in (
        ('session_id', 'text'),
        ('urlab_version', 'text'),
        ('mujoco_version', 'text'),
        ('mujoco_version_int', 'integer'),
        ('manager_present', 'bool'),
        ('shm_session_dir', 'string'),
        ('mjb', 'bytes'),
        ('articulations', 'array'),
        ('entities', 'object'),
        ('global_cameras', 'object'),
    ):
        field(reply, name, kind)


@check('hello.urlab_version', PROTOCOL, 'hello', 'urlab/A.B.C', transports=ZMQ, world=False)
def urlab_version(peer: Peer) -> None:
    """urlab_version is "urlab/" and a version."""
    version = field(peer.hello_reply, 'urlab_version', 'text')
    expect(re.fullmatch(r'urlab/\d+(\.\w+)+', version), 'urlab/A.B.C', version)


@check(
    'hello.mujoco_version', PROTOCOL, 'hello', 'Neither is hardcoded', transports=ZMQ,
    world=False,
)  # fmt: skip
def mujoco_version(peer: Peer) -> None:
    """mujoco_version and mujoco_version_int are the same version."""
    reply = peer.hello_reply
    text = field(reply, 'mujoco_version', 'text')
    number = field(reply, 'mujoco_version_int', 'integer')
    match = re.match(r'(\d+)\.(\d+)\.(\d+)', text)
    if match is None:
        raise Failed('A.B.C', text)
    major, minor, patch = map(int, match.groups())
    # mj_version() had one digit for each part until 3.9, three digits since.
    valid = (major * 100 + minor * 10 + patch, major * 1_000_000 + minor * 1000 + patch)
    expect(int(number) in valid, f'{valid[0]} or {valid[1]} for {text}', number)


@check('hello.mjb', PROTOCOL, 'hello', 'temp-file round-trip', transports=ZMQ)
def mjb(peer: Peer) -> None:
    """mjb loads in MuJoCo, and mjb_size, when sent, is its size."""
    reply = peer.hello()
    if 'mjb_size' in reply:
        equal('mjb_size', reply['mjb_size'], len(field(reply, 'mjb', 'bytes')))
    expect(peer.model.mj.nbody > 0, 'a model with bodies', peer.model.mj.nbody)


@check(
    'hello.shm_session_dir', PROTOCOL, 'hello', 'absolute SHM region directory', transports=ZMQ,
)  # fmt: skip
def shm_session_dir(peer: Peer) -> None:
    """shm_session_dir is an absolute path (empty: the server offers no shared memory)."""
    path = field(peer.hello_reply, 'shm_session_dir', 'string')
    if not path:
        raise skip('the server offers no shared memory')
    absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    expect(absolute, 'an absolute path', path)
    expect('URLabShm' in path, 'a path with the folder URLabShm', path)


@check(
    'hello.no_manager', PROTOCOL, 'hello', 'articulations is an empty array', transports=ZMQ,
    world=False,
)  # fmt: skip
def no_manager(peer: Peer) -> None:
    """Without a world articulations is empty and the blocks of a world are left out."""
    reply = peer.hello()
    if peer.manager:
        raise skip('a world is running')
    equal('articulations', field(reply, 'articulations'), [])
    for name in ('mjb', 'entities', 'global_cameras'):
        expect(name not in reply, f'no {name} without a world', f'{name} is there')


@check('hello.articulations', PROTOCOL, ARTICULATIONS, transports=ZMQ)
def articulations(peer: Peer) -> None:
    """Every articulation has its fields, and its prefix is one of a kind."""
    blocks = field(peer.hello_reply, 'articulations', 'array')
    for block in blocks:
        for name, kind in (
            ('prefix', 'text'),
            ('actor_id', 'string'),
            ('default_control_mode', 'text'),
            ('actuator_types', 'object'),
            ('original_names', 'object'),
            ('camera_topics', 'object'),
        ):
            field(block, name, kind)
    prefixes = [block['prefix'] for block in blocks]
    equal('different prefixes', len(set(prefixes)), len(prefixes))


@check(
    'hello.default_control_mode', PROTOCOL, ARTICULATIONS,
    'when a controller component is attached, else raw', transports=ZMQ,
)  # fmt: skip
def default_control_mode(peer: Peer) -> None:
    """default_control_mode is ue_controller where a controller is attached, else raw."""
    for block in peer.blocks:
        wanted = 'ue_controller' if 'controller' in block else 'raw'
        equal(f'mode of {block.get("prefix")}', block.get('default_control_mode'), wanted)


@check(
    'hello.controller', PROTOCOL, ARTICULATIONS,
    'The controller block appears only when one is attached', transports=ZMQ,
)  # fmt: skip
def controller(peer: Peer) -> None:
    """A controller block has kind, params and schema, and the schema describes every param."""
    found = [block for block in peer.blocks if 'controller' in block]
    if not found:
        raise skip('no articulation has a controller')
    for block in found:
        field(block, 'controller/kind', 'text')
        params = field(block, 'controller/params', 'object')
        schema = field(block, 'controller/schema', 'object')
        equal('params that the schema describes', sorted(schema), sorted(params))
        for name, entry in schema.items():
            field(entry, 'type', 'text')
            kind = 'object' if entry['type'] == 'per_joint' else 'number'
            field(params, name, kind)


@check(
    'hello.actuator_types', PROTOCOL, ARTICULATIONS, 'carries the authored MuJoCo kind',
    transports=ZMQ,
)  # fmt: skip
def actuator_types(peer: Peer) -> None:
    """actuator_types names every actuator of the articulation, locally, with a MuJoCo kind."""
    for block in peer.blocks:
        robot = peer.model.robots[block['prefix']]
        names = sorted(name for _, name in robot.actuators)
        equal(f'actuators of {robot.prefix}', sorted(block['actuator_types']), names)
        for name, kind in block['actuator_types'].items():
            expect(kind in ACTUATOR_KINDS, f'a MuJoCo kind for {name}', kind)


@check('hello.original_names', PROTOCOL, ARTICULATIONS, 'per category', transports=ZMQ)
def original_names(peer: Peer) -> None:
    """original_names maps names of the model to source names, in four categories."""
    for block in peer.blocks:
        robot = peer.model.robots[block['prefix']]
        live = {
            'actuators': {name for _, name in robot.actuators},
            'joints': {joint.name for joint in robot.joints},
            'sensors': set(robot.sensors),
            'bodies': set(robot.bodies),
        }
        keys('original_names', block['original_names'], ORIGINALS)
        for category in ORIGINALS:
            names = field(block, f'original_names/{category}', 'object')
            unknown = sorted(set(names) - live[category])
            equal(f'{category} that are not in the model', unknown, [])
            expect(all(isinstance(v, str) for v in names.values()), 'texts', names)


@check('hello.prefixed_names', PLUGIN, 'names', transports=ZMQ)
def prefixed_names(peer: Peer) -> None:
    """The model's names of an articulation begin with its prefix and an underscore."""
    for block in peer.blocks:
        robot = peer.model.robots[block['prefix']]
        expect(robot.bodies, f'bodies named {robot.prefix}_*', 'none')


@check('hello.camera_topics', PROTOCOL, ARTICULATIONS, transports=ZMQ)
def camera_topics(peer: Peer) -> None:
    """A camera has mode, resolution, fovy, a tcp endpoint and the topic prefix/camera/name."""
    cameras = [
        (block['prefix'], name, camera)
        for block in peer.blocks
        for name, camera in (block.get('camera_topics') or {}).items()
    ]
    if not cameras:
        raise skip('the handshake lists no cameras')
    for prefix, name, camera in cameras:
        mode = field(camera, 'mode', 'text')
        expect(mode in CAMERA_MODES, 'real, depth, semantic or instance', mode)
        size = field(camera, 'resolution', 'vector', 2)
        expect(all(is_integer(v) and v > 0 for v in size), 'a positive resolution', size)
        expect(0 < field(camera, 'fovy', 'number') < 180, 'fovy in degrees', camera['fovy'])
        endpoint = field(camera, 'zmq_endpoint', 'string')
        expect(not endpoint or _ENDPOINT.fullmatch(endpoint), 'tcp://host:port', endpoint)
        topic = field(camera, 'zmq_topic', 'string')
        if endpoint:
            equal('zmq_topic', topic.rstrip(' '), f'{prefix}/camera/{name}')


@check('hello.entities', PROTOCOL, ENTITIES, transports=ZMQ)
def entities(peer: Peer) -> None:
    """An entity has id and has_free_base, and the id is the body of its name."""
    blocks = field(peer.hello_reply, 'entities', 'object')
    if not blocks:
        raise skip('the world has no entities')
    for name, block in blocks.items():
        field(block, 'id', 'integer')
        field(block, 'has_free_base', 'bool')
        equal(f'body id of {name}', block['id'], peer.model.find('body', name))


@check(
    'hello.free_entities', PROTOCOL, ENTITIES, 'only for free-base bodies', transports=ZMQ,
)  # fmt: skip
def free_entities(peer: Peer) -> None:
    """Free entities, and only they, report their joint's slots."""
    blocks = field(peer.hello_reply, 'entities', 'object')
    if not blocks:
        raise skip('the world has no entities')
    for name, block in blocks.items():
        free = name in peer.model.free_entities
        equal(f'has_free_base of {name}', block.get('has_free_base'), free)
        if not free:
            there = [key for key in FREE_FIELDS if key in block]
            equal(f'free-base fields of {name}', there, [])
            continue
        joint = peer.model.free_entities[name]
        equal('free_joint_id', field(block, 'free_joint_id', 'integer'), joint.id)
        equal('qpos_offset', field(block, 'qpos_offset', 'integer'), joint.q)
        equal('qvel_offset', field(block, 'qvel_offset', 'integer'), joint.v)
        if block.get('free_joint') != peer.model.name('joint', joint.id):
            raise Failed(f'free_joint {peer.model.name("joint", joint.id)!r}', block)
