# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step in direct mode: the controller's inner loop, and one-shot wrenches."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.model import Robot
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'Direct'
OFFSET = 0.04  # rad; small, so that no torque limit is reached


def controlled(peer: Peer) -> tuple[Robot, dict[str, Any]]:
    """Return an articulation with a controller."""
    return peer.robot(lambda _, block: 'controller' in block, 'with a controller')


def targets(peer: Peer, robot: Robot) -> list[float]:
    """Return setpoints near the present positions of the joints that the actuators drive."""
    qpos = peer.call('forward')['per_articulation'][robot.prefix]['qpos']
    slots = robot.qpos
    out = []
    for number, _ in robot.actuators:
        joint = int(peer.model.mj.actuator_trnid[number][0])
        out.append(qpos[slots.index(int(peer.model.mj.jnt_qposadr[joint]))] + OFFSET)
    return out


def pd_torques(peer: Peer, robot: Robot, params: dict, before: dict, goal: list) -> list[float]:
    """Return what the PD law gives for a state: kp (target - q) - kv q', within the limit."""
    mj, out = peer.model.mj, []
    for (number, name), target in zip(robot.actuators, goal, strict=True):
        joint = int(mj.actuator_trnid[number][0])
        if mj.jnt_limited[joint]:
            low, high = mj.jnt_range[joint]
            target = min(max(target, low), high)
        q = before['qpos'][robot.qpos.index(int(mj.jnt_qposadr[joint]))]
        v = before['qvel'][robot.qvel.index(int(mj.jnt_dofadr[joint]))]
        gain = {key: params[key].get(name, params[f'default_{key}'])
                for key in ('kp', 'kv', 'torque_limit')}  # fmt: skip
        torque = gain['kp'] * (target - q) - gain['kv'] * v
        out.append(min(max(torque, -gain['torque_limit']), gain['torque_limit']))
    return out


@check('step.direct.controller', PLUGIN, 'step: PD controller', modes=DIRECT)
def controller(peer: Peer) -> None:
    """With a PD controller, ctrl of the reply is its torque for the state before the sub-step."""
    robot, block = controlled(peer)
    if block['controller'].get('kind') != 'pd':
        raise skip(f'the controller is of kind {block["controller"].get("kind")}')
    params, goal = block['controller']['params'], targets(peer, robot)
    before = peer.call('forward')['per_articulation'][robot.prefix]
    for _ in range(3):
        command = {robot.prefix: {'ctrl': goal, 'control_mode': 'ue_controller'}}
        after = peer.call('step', n_steps=1, per_articulation=command)['per_articulation']
        expected = pd_torques(peer, robot, params, before, goal)
        close('ctrl', after[robot.prefix]['ctrl'], expected, 1e-3)
        before = after[robot.prefix]


@check(
    'step.direct.inner_loop', PROTOCOL, SECTION, 'the inner loop runs every sub-step',
    modes=DIRECT,
)  # fmt: skip
def inner_loop(peer: Peer) -> None:
    """The controller runs in every sub-step of a window, against the fixed setpoint."""
    robot, _ = controlled(peer)
    command = {robot.prefix: {'ctrl': targets(peer, robot), 'control_mode': 'ue_controller'}}
    first = peer.call('step', n_steps=1, per_articulation=command)['per_articulation']
    for _ in range(14):
        last = peer.call('step', n_steps=1)['per_articulation'][robot.prefix]
    peer.call('reset')
    window = peer.call('step', n_steps=15, per_articulation=command)
    got = window['per_articulation'][robot.prefix]
    close('ctrl at the end of the window', got['ctrl'], last['ctrl'], 1e-6)
    close('qpos at the end of the window', got['qpos'], last['qpos'], 1e-9)
    expect(got['ctrl'] != first[robot.prefix]['ctrl'], 'ctrl that follows the state', got['ctrl'])


@check(
    'step.direct.raw', PROTOCOL, SECTION, 'bypasses the UE controller for that articulation',
    modes=DIRECT,
)  # fmt: skip
def raw(peer: Peer) -> None:
    """control_mode raw hands ctrl to the actuators as it is, for that step only."""
    robot, _ = controlled(peer)
    values = [0.15 + 0.05 * index for index in range(len(robot.actuators))]
    command = {robot.prefix: {'ctrl': values, 'control_mode': 'raw'}}
    got = peer.call('step', per_articulation=command)['per_articulation'][robot.prefix]['ctrl']
    close('ctrl with control_mode raw', got, values, 1e-6)
    got = peer.call('step', n_steps=1)['per_articulation'][robot.prefix]['ctrl']
    differs = any(abs(a - b) > 1e-4 for a, b in zip(got, values, strict=True))
    expect(differs, 'the controller to run again in the next step', f'ctrl {got}')


@check(
    'step.direct.default_control_mode', PROTOCOL, SECTION,
    "falls back to the handshake's default_control_mode", modes=DIRECT,
)  # fmt: skip
def default_control_mode(peer: Peer) -> None:
    """Without control_mode an articulation is driven as its default_control_mode says."""
    for block in peer.blocks:
        robot = peer.model.robots[block['prefix']]
        values = [0.05] * len(robot.actuators)
        runs = []
        for mode in (None, block['default_control_mode']):
            peer.call('reset')
            command = {'ctrl': values, **({'control_mode': mode} if mode else {})}
            reply = peer.call('step', n_steps=5, per_articulation={robot.prefix: command})
            runs.append(reply['per_articulation'][robot.prefix]['ctrl'])
        equal(f'ctrl of {robot.prefix}', runs[0], runs[1])


def _lift(peer: Peer, robot: Robot, force: float, count: int) -> float:
    """Return vz of the free base after a window with an upward force, from a reset."""
    peer.call('reset')
    body = peer.model.name('body', int(peer.model.mj.jnt_bodyid[robot.joints[0].id]))
    wrench = {body.removeprefix(f'{robot.prefix}_'): [0, 0, force, 0, 0, 0]}
    command = {robot.prefix: {'xfrc_applied': wrench}}
    reply = peer.call('step', n_steps=count, per_articulation=command)
    return reply['per_articulation'][robot.prefix]['qvel'][2]


def _flight(peer: Peer) -> tuple[Robot, float]:
    """Return a robot with a free base and a force that lifts it well."""
    robot, _ = peer.robot(lambda robot, _: robot.free_base, 'with a free base')
    if peer.model.mj.opt.gravity[2] > -1.0:
        raise skip('there is no gravity')
    mass = float(peer.model.mj.body_mass[list(robot.bodies.values())].sum())
    return robot, 6.0 * mass * 9.81


@check('step.direct.xfrc', PROTOCOL, SECTION, 'xfrc_applied is a one-shot impulse', modes=DIRECT)
def xfrc(peer: Peer) -> None:
    """xfrc_applied acts, in the world frame, during the whole window."""
    robot, force = _flight(peer)
    rest, short, long = (
        _lift(peer, robot, f, n) for f, n in ((0.0, 20), (force, 20), (force, 40))
    )
    expect(short > rest + 0.5, f'an upward velocity, without force {rest:.3f} m/s', short)
    expect(long > 1.6 * short, f'about twice {short:.3f} m/s after twice the window', long)


@check(
    'step.direct.xfrc_cleared', PROTOCOL, SECTION, 'cleared after the step window', modes=DIRECT,
)  # fmt: skip
def xfrc_cleared(peer: Peer) -> None:
    """xfrc_applied no longer acts in the step after its window."""
    robot, force = _flight(peer)
    before = _lift(peer, robot, force, 20)
    after = peer.call('step', n_steps=20)['per_articulation'][robot.prefix]['qvel'][2]
    fall = -9.81 * 20 * peer.timestep
    expect(after - before < 0.5 * fall, f'a fall by about {fall:.3f} m/s', after - before)


@check('step.divergence', PLUGIN, 'extension divergence', modes=DIRECT)
def divergence(peer: Peer) -> None:
    """An unstable world is reported in replies and status until the next reset."""
    if not peer.extension('divergence'):
        raise skip('the server has no extension divergence')
    robot, _ = peer.robot(lambda robot, _: robot.joints, 'with joints')
    before = peer.call('step', n_steps=3)
    equal('divergence of a stable world', before.get('divergence'), None)
    torque = [0.0, 0.0, 0.0, 9e9, 9e9, 9e9]
    wrench = {robot.prefix: {'xfrc_applied': dict.fromkeys(robot.bodies, torque)}}
    reply = peer.call('step', per_articulation=wrench)
    went_back = reply['time'] < before['time'] + peer.timestep / 2
    if not went_back and 'divergence' not in reply:
        raise skip('this world stays stable')
    count = field(reply, 'divergence/count', 'integer')
    close('time of the divergence', field(reply, 'divergence/time', 'number'), before['time'],
          1e-9)  # fmt: skip
    quantity = field(reply, 'divergence/quantity', 'string')
    expect(quantity in ('qpos', 'qvel', 'qacc', 'ctrl'), 'qpos, qvel, qacc or ctrl', quantity)
    field(reply, 'divergence/element', 'string')
    reset = field(reply, 'divergence/world_reset', 'bool')
    equal('whether time was set back', went_back, reset)
    for op in ('forward', 'status'):
        equal(f'divergence of {op}', peer.call(op).get('divergence'), reply['divergence'])
    equal('divergence of reset', peer.call('reset').get('divergence'), None)
    equal('divergence of status', peer.call('status').get('divergence'), None)
    again = peer.call('step', per_articulation=wrench)
    equal('count of the next', field(again, 'divergence/count', 'integer'), count + 1)
