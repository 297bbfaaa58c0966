# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step in direct mode: counting, setpoints and timeouts."""

from __future__ import annotations

import time
from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect

SECTION = 'Direct'


@check('step.reply', PROTOCOL, 'Reply', 'the same shape across modes',
       modes=('live', *STEPPED))  # fmt: skip
def reply_shape(peer: Peer) -> None:
    """step_ok has time, step, sim_time, wall_time, per_articulation and entities."""
    reply = peer.call('step')
    for name, kind in (
        ('time', 'number'),
        ('step', 'integer'),
        ('sim_time', 'object'),
        ('wall_time', 'object'),
        ('per_articulation', 'object'),
        ('entities', 'object'),
    ):
        field(reply, name, kind)
    expect('cameras' not in reply, 'no cameras block without a request for it', 'cameras')


@check('step.direct.n_steps', PROTOCOL, SECTION, modes=DIRECT)
def n_steps(peer: Peer) -> None:
    """n_steps advances time by as many timesteps, and step by as many."""
    before = peer.call('step')
    for count in (1, 2, 10):
        reply = peer.call('step', n_steps=count)
        expected = before['time'] + count * peer.timestep
        close(f'time after {count} steps', field(reply, 'time', 'number'), expected, 1e-7)
        equal('step', field(reply, 'step', 'integer'), before['step'] + count)
        before = reply


@check('step.direct.default', PLUGIN, 'step', modes=DIRECT)
def default(peer: Peer) -> None:
    """Without n_steps, or with less than 1, there is one step."""
    before = peer.call('step')['time']
    for request in ({}, {'n_steps': 0}, {'n_steps': -3}, {'n_steps': None}):
        after = peer.call('step', **request)['time']
        close(f'time after {request}', after - before, peer.timestep, 1e-7)
        before = after


@check(
    'step.direct.stands_still', NETWORKING, 'Step modes',
    'The dispatcher feeds per-articulation ctrl from a queue', modes=DIRECT,
)  # fmt: skip
def stands_still(peer: Peer) -> None:
    """Between steps time is frozen."""
    before = peer.call('step')['time']
    time.sleep(0.03)
    after = peer.call('step')['time']
    close('time of one step after a pause', after - before, peer.timestep, 1e-7)


@check('step.direct.split', PROTOCOL, SECTION, 'runs every sub-step of the', modes=DIRECT)
def split(peer: Peer) -> None:
    """Ten steps in one request end where ten requests of one step do, setpoints held."""
    ctrl = {
        block['prefix']: {'ctrl': [0.2] * len(peer.model.robots[block['prefix']].actuators)}
        for block in peer.blocks
    }
    once = peer.call('step', n_steps=10, per_articulation=ctrl)
    peer.call('reset')
    for _ in range(10):
        often = peer.call('step', n_steps=1, per_articulation=ctrl)
    for prefix, block in once['per_articulation'].items():
        close(f'qpos of {prefix}', often['per_articulation'][prefix]['qpos'], block['qpos'], 1e-9)


@check(
    'step.direct.deterministic', PROTOCOL, 'reset',
    'Determinism in direct mode comes from the integrator itself', modes=DIRECT,
)  # fmt: skip
def deterministic(peer: Peer) -> None:
    """After two resets the same steps give the same numbers."""
    runs = []
    for seed in (1, 2):
        peer.call('reset', seed=seed)
        runs.append(peer.call('step', n_steps=25)['per_articulation'])
    for prefix, block in runs[0].items():
        equal(f'qpos of {prefix}', runs[1][prefix]['qpos'], block['qpos'])


@check('step.direct.ctrl', PROTOCOL, SECTION, 'ctrl is a positional array in actuator order',
       modes=DIRECT)  # fmt: skip
def ctrl(peer: Peer) -> None:
    """ctrl reaches the actuators by position; every articulation has its own."""
    sent: dict[str, Any] = {}
    for prefix, robot in peer.model.robots.items():
        values = [0.1 + 0.05 * index for index in range(len(robot.actuators))]
        sent[prefix] = {'ctrl': values, 'control_mode': 'raw'}
    reply = peer.call('step', per_articulation=sent)
    for prefix, command in sent.items():
        got = field(reply, f'per_articulation/{prefix}/ctrl', 'vector')
        close(f'ctrl of {prefix}', got, command['ctrl'], 1e-6)


@check(
    'step.direct.ctrl_map', PROTOCOL, SECTION, 'is the named alternative', modes=DIRECT,
)  # fmt: skip
def ctrl_map(peer: Peer) -> None:
    """ctrl_map sets actuators by local name, and leaves the others alone."""
    robot, _ = peer.robot(lambda robot, _: len(robot.actuators) > 1, 'with two actuators')
    last = len(robot.actuators) - 1
    first = {'ctrl': [0.1] * (last + 1), 'control_mode': 'raw'}
    peer.call('step', per_articulation={robot.prefix: first})
    named = {'ctrl_map': {robot.actuators[last][1]: 0.35}, 'control_mode': 'raw'}
    reply = peer.call('step', per_articulation={robot.prefix: named})
    expected = [0.1] * last + [0.35]
    close('ctrl', reply['per_articulation'][robot.prefix]['ctrl'], expected, 1e-6)


@check('step.direct.sticky', PLUGIN, 'step', modes=DIRECT)
def sticky(peer: Peer) -> None:
    """Setpoints hold until they are overwritten; short and long ctrl arrays are not errors."""
    robot, _ = peer.robot(lambda robot, _: len(robot.actuators) > 1, 'with two actuators')
    count = len(robot.actuators)
    for values, expected in (
        ([0.2] * count, [0.2] * count),
        (None, [0.2] * count),
        ([0.3], [0.3] + [0.2] * (count - 1)),
        ([0.1] * (count + 3), [0.1] * count),
    ):
        command = {'control_mode': 'raw', **({} if values is None else {'ctrl': values})}
        reply = peer.call('step', per_articulation={robot.prefix: command})
        got = reply['per_articulation'][robot.prefix]['ctrl']
        close(f'ctrl after {values}', got, expected, 1e-6)


@check(
    'step.direct.timeout', PROTOCOL, 'Errors', 'A direct-mode step did not complete within 5 s',
    modes=DIRECT, slow=True, transports=('zmq',),
)  # fmt: skip
def timeout(peer: Peer) -> None:
    """A step of a paused direct server answers step_timeout after 5 s; then stepping continues."""
    peer.call('set_paused', paused=True)
    start = time.monotonic()
    peer.refused('step_timeout', 'step', 9.0)
    took = time.monotonic() - start
    expect(4.0 <= took <= 7.0, 'step_timeout after about 5 s', f'after {took:.2f} s')
    peer.call('set_paused', paused=False)
    peer.call('step')
