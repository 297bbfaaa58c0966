# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step in puppet and live mode."""

from __future__ import annotations

import time

import numpy as np

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import PUPPET
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.checks.stepping.observations import pose_step
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip


@check(
    'step.puppet.writes', PROTOCOL, 'Puppet',
    'qpos / qvel are full nq / nv vectors written into the live data', modes=PUPPET,
)  # fmt: skip
def writes(peer: Peer) -> None:
    """qpos, qvel and time of the request are the state of the reply."""
    reply = pose_step(peer)
    close('time', field(reply, 'time', 'number'), 1.5, 1e-9)
    qpos, qvel = peer.model.whole(reply)
    for index, value in enumerate(qvel):
        close(f'qvel[{index}]', float(value), 0.01 * (index + 1), 1e-6)
    for joint in range(peer.model.mj.njnt):
        start = int(peer.model.mj.jnt_qposadr[joint])
        if int(peer.model.mj.jnt_type[joint]) == 0:
            quaternion = [float(value) for value in qpos[start + 3 : start + 7]]
            close('quaternion of qpos', quaternion, [0.8, 0.2, 0.4, 0.4], 1e-6)
        elif int(peer.model.mj.jnt_type[joint]) > 1:
            expected = float(peer.model.mj.qpos0[start]) + 0.11 + 0.01 * joint
            close(f'qpos[{start}]', float(qpos[start]), expected, 1e-6)


@check(
    'step.puppet.no_integration', PROTOCOL, 'Puppet', '(no integration)', modes=PUPPET,
)  # fmt: skip
def no_integration(peer: Peer) -> None:
    """Whatever n_steps says, nothing moves and time is the pushed one."""
    one, many = pose_step(peer), pose_step(peer, n_steps=50)
    close('time', many['time'], 1.5, 1e-9)
    for prefix, block in one['per_articulation'].items():
        equal(f'qpos of {prefix}', many['per_articulation'][prefix]['qpos'], block['qpos'])
    close('time later', peer.call('forward')['time'], 1.5, 1e-9)


@check('step.puppet.counts', PLUGIN, 'step: puppet', modes=PUPPET)
def counts(peer: Peer) -> None:
    """step counts the requests, not n_steps."""
    before = pose_step(peer)['step']
    equal('step', pose_step(peer, n_steps=9)['step'], before + 1)


@check(
    'step.puppet.ctrl', PROTOCOL, 'Puppet', 'ctrl is optional and stored for visualisation',
    modes=PUPPET,
)  # fmt: skip
def ctrl(peer: Peer) -> None:
    """ctrl of the request, all nu of it, is stored as it is."""
    if not peer.model.mj.nu:
        raise skip('the model has no actuators')
    values = [0.07 * (index + 1) for index in range(peer.model.mj.nu)]
    reply = pose_step(peer, ctrl=values)
    for prefix, robot in peer.model.robots.items():
        expected = [values[number] for number, _ in robot.actuators]
        close(f'ctrl of {prefix}', reply['per_articulation'][prefix]['ctrl'], expected, 1e-6)


@check('step.puppet.by_joint', PLUGIN, 'extension push_by_joint', modes=PUPPET)
def by_joint(peer: Peer) -> None:
    """qpos_map and qvel_map write the joints that they name, whatever the order, no others."""
    if not peer.extension('push_by_joint'):
        raise skip('the server has no extension push_by_joint')
    mj = peer.model.mj
    names = [peer.model.name('joint', number) for number in range(mj.njnt)]
    equal('qpos_joints of hello', peer.hello_reply.get('qpos_joints'), names)
    qpos, qvel = peer.model.whole(pose_step(peer))
    ends = [*map(int, mj.jnt_qposadr), mj.nq], [*map(int, mj.jnt_dofadr), mj.nv]
    chosen = [number for number in reversed(range(mj.njnt)) if number % 2 == 0]
    wanted = np.array(mj.qpos0), np.zeros(mj.nv)
    maps: tuple[dict[str, list[float]], ...] = ({}, {})
    for number in chosen:
        for part, state in enumerate((qpos, qvel)):
            place = slice(ends[part][number], ends[part][number + 1])
            wanted[part][place] = state[place]
            maps[part][names[number]] = [float(value) for value in state[place]]
    rest = {'qpos': [float(value) for value in mj.qpos0], 'qvel': [0.0] * mj.nv}
    peer.call('step', time=0.5, **rest)
    reply = peer.call('step', time=1.0, qpos_map=maps[0], qvel_map=maps[1])
    for part, state in enumerate(peer.model.whole(reply)):
        close(('qpos', 'qvel')[part], state.tolist(), wanted[part].tolist(), 1e-6)
    before = peer.model.whole(reply)
    for name, values in (('no such joint', [0.0]), (names[0], [0.0] * 9)):
        answer = peer.ask('step', qpos_map={**maps[0], name: values})
        equal(f'op of the reply to {name!r}: {values}', answer.get('op'), 'error')
    close('qpos after errors', peer.model.whole(peer.call('forward'))[0].tolist(),
          before[0].tolist(), 1e-6)  # fmt: skip


@check('step.puppet.xfrc_inert', PROTOCOL, 'Puppet', 'xfrc_applied is inert', modes=PUPPET)
def xfrc_inert(peer: Peer) -> None:
    """A wrench in a puppet step changes nothing of the state, then or in the next mode."""
    robot, _ = peer.robot(lambda robot, _: robot.joints, 'with joints')
    body = next(iter(robot.bodies))
    wrench = {robot.prefix: {'xfrc_applied': {body: [0, 0, 5e3, 0, 0, 0]}}}
    calm, pushed = pose_step(peer), pose_step(peer, per_articulation=wrench)
    for name in ('qpos', 'qvel'):
        got = pushed['per_articulation'][robot.prefix][name]
        equal(name, got, calm['per_articulation'][robot.prefix][name])


@check('step.puppet.perturbation', PROTOCOL, 'Puppet', 'may add a perturbation block',
       modes=PUPPET)  # fmt: skip
def perturbation(peer: Peer) -> None:
    """perturbation, when a drag is active, is a map; otherwise it is absent."""
    reply = pose_step(peer)
    if 'perturbation' not in reply:
        raise skip('no drag is active in the editor')
    field(reply, 'perturbation', 'object')


@check('step.while_live', PLUGIN, 'extension step_while_live', modes=STEPPED)
def while_live(peer: Peer) -> None:
    """A step that is only for live mode is refused in another mode and changes nothing."""
    if not peer.extension('step_while_live'):
        raise skip('the server has no extension step_while_live')
    before = peer.call('forward')
    for _ in range(3):
        peer.refused('not_live', 'step', n_steps=3, while_live=True)
    after = peer.call('forward')
    close('time', after['time'], before['time'], 0.0)
    for name, old, new in zip(
        ('qpos', 'qvel'), peer.model.whole(before), peer.model.whole(after), strict=True
    ):
        close(name, new.tolist(), old.tolist(), 0.0)


@check('step.live.free_runs', NETWORKING, 'Step modes', 'Physics free-runs', modes=LIVE)
def free_runs(peer: Peer) -> None:
    """In live mode time advances by itself, never faster than the wall clock."""
    start, before = time.monotonic(), peer.call('step')['time']
    after = before
    while after <= before and time.monotonic() < start + 2.0:  # a busy machine may stall it
        time.sleep(0.12)
        after = peer.call('step')['time']
    took = time.monotonic() - start
    expect(after > before, 'a later time', after - before)
    expect(after - before < took + 0.1, f'at most {took:.3f} s of simulation', after - before)


@check('step.live.n_steps', PROTOCOL, 'Live', 'n_steps is ignored', modes=LIVE)
def n_steps(peer: Peer) -> None:
    """A step of a million steps returns at once."""
    start = time.monotonic()
    before = peer.call('forward')['time']
    after = peer.call('step', n_steps=1_000_000)['time']
    took = time.monotonic() - start
    expect(took < 1.0, 'a reply at once', f'after {took:.2f} s')
    expect(after - before < took + 0.1, f'at most {took:.3f} s of simulation', after - before)


@check('step.live.ctrl', PROTOCOL, 'Live', 'step applies the per-articulation ctrl', modes=LIVE)
def ctrl_live(peer: Peer) -> None:
    """ctrl of a live step reaches the actuators of the running simulation."""
    robot, _ = peer.robot(
        lambda robot, block: robot.actuators and 'controller' not in block,
        'with actuators and without controller',
    )
    values = [0.1 + 0.05 * index for index in range(len(robot.actuators))]
    peer.call('step', per_articulation={robot.prefix: {'ctrl': values}})
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        got = peer.call('step')['per_articulation'][robot.prefix]['ctrl']
        if all(abs(a - b) < 1e-6 for a, b in zip(got, values, strict=True)):
            return
        time.sleep(0.005)
    close('ctrl after a second', got, values, 1e-6)
