# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_mode, set_paused, set_sim_speed, set_control_source and the e-stop."""

from __future__ import annotations

import time

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import EVERY
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import MODES


@check('set_mode.reply', PROTOCOL, 'set_mode', 'Switch live / direct / puppet mid-session')
def reply(peer: Peer) -> None:
    """set_mode answers with the mode before and the mode now; the same mode is not an error."""
    peer.need_free_mode()
    before = 'direct'
    for mode in ('live', 'puppet', 'puppet', 'direct', 'live', 'direct', 'puppet', 'live'):
        answer = peer.call('set_mode', mode=mode)
        equal('previous_mode', field(answer, 'previous_mode', 'text'), before)
        equal('current_mode', field(answer, 'current_mode', 'text'), mode)
        before = mode


@check('set_mode.auto', NETWORKING, 'Step modes', 'Auto-promotes to direct on the first handshake',
       stock='auto stops the streams, and a handshake promotes nothing')  # fmt: skip
def auto(peer: Peer) -> None:
    """Auto is a mode to set: live, until the next plain handshake makes it direct."""
    peer.need_free_mode()
    reply = peer.call('set_mode', mode='auto')
    equal('current_mode', reply.get('current_mode'), 'live')
    equal('mode while auto', peer.call('set_mode', mode='auto')['previous_mode'], 'live')
    peer.hello()
    now = peer.call('set_mode', mode='direct')['previous_mode']
    equal('mode after a plain hello', now, 'direct')


@check('set_mode.bad_mode', PROTOCOL, 'set_mode', 'bad_mode on an unknown mode string',
       modes=DIRECT)  # fmt: skip
def bad_mode(peer: Peer) -> None:
    """An unknown mode answers bad_mode and changes nothing."""
    peer.need_free_mode()
    for mode in ('no_such_mode', '', 'step'):
        peer.refused('bad_mode', 'set_mode', mode=mode)
    equal('mode', peer.call('set_mode', mode='direct')['previous_mode'], 'direct')


@check('set_mode.locked', PROTOCOL, 'set_mode', 'if the project pinned a mode')
def locked(peer: Peer) -> None:
    """With a pinned mode every set_mode answers mode_locked_by_server, bad ones too."""
    if peer.ask('set_mode', mode='direct').get('code') != 'mode_locked_by_server':
        raise skip('the mode is not pinned')
    for mode in (*MODES, 'no_such_mode'):
        peer.refused('mode_locked_by_server', 'set_mode', mode=mode)


@check('set_mode.keeps_state', PLUGIN, 'set_mode', modes=DIRECT)
def keeps_state(peer: Peer) -> None:
    """A change of mode resets nothing."""
    peer.need_free_mode()
    before = peer.call('step', n_steps=9)
    peer.call('set_mode', mode='puppet')
    peer.call('set_mode', mode='direct')
    after = peer.call('forward')
    close('time', after['time'], before['time'], 1e-12)
    for prefix, block in before['per_articulation'].items():
        equal(f'qpos of {prefix}', after['per_articulation'][prefix]['qpos'], block['qpos'])


@check('set_mode.resumes', PLUGIN, 'set_mode')
def resumes(peer: Peer) -> None:
    """Entering direct ends a pause: the step after it is done at once."""
    peer.need_free_mode()
    peer.call('set_mode', mode='live')
    peer.call('set_paused', paused=True)
    peer.call('set_mode', mode='direct')
    peer.call('step', 2.0)


@check('set_paused.reply', PROTOCOL, 'set_paused', modes=EVERY)
def paused_reply(peer: Peer) -> None:
    """set_paused echoes paused."""
    for paused in (True, True, False, False):
        equal('paused', field(peer.call('set_paused', paused=paused), 'paused', 'bool'), paused)


@check('set_paused.stops_time', PROTOCOL, 'set_paused', modes=LIVE)
def stops_time(peer: Peer) -> None:
    """A paused live simulation is frozen, and continues when it is resumed."""
    peer.call('set_paused', paused=True)
    before = peer.call('step')['time']
    time.sleep(0.05)
    close('time while paused', peer.call('step')['time'], before, 1e-12)
    peer.call('set_paused', paused=False)
    time.sleep(0.1)
    after = peer.call('step')['time']
    expect(after > before, f'later than {before}', after)


@check('set_sim_speed.reply', PROTOCOL, 'set_sim_speed', 'the reply echoes the effective value')
def speed_reply(peer: Peer) -> None:
    """set_sim_speed echoes the percentage."""
    for percent in (25.0, 50, 100.0):
        got = field(peer.call('set_sim_speed', percent=percent), 'percent', 'number')
        close('percent', got, float(percent), 1e-4)


@check('set_sim_speed.clamps', PROTOCOL, 'set_sim_speed', 'clamps to [5, 100]')
def clamps(peer: Peer) -> None:
    """Percentages beyond 5 and 100 are clamped, and the reply has the clamped one."""
    try:
        for sent, kept in ((1.0, 5.0), (-20.0, 5.0), (5.0, 5.0), (250.0, 100.0), (100.0, 100.0)):
            got = field(peer.call('set_sim_speed', percent=sent), 'percent', 'number')
            close(f'percent for {sent}', got, kept, 1e-4)
    finally:
        peer.ask('set_sim_speed', percent=100.0)


@check('set_sim_speed.paces', PROTOCOL, 'set_sim_speed', 'Affects live pacing only', modes=LIVE,
       slow=True)  # fmt: skip
def paces(peer: Peer) -> None:
    """At 10 percent a live simulation makes at most 13 percent of the wall's time."""
    try:
        peer.call('set_sim_speed', percent=10.0)
        time.sleep(0.1)
        start, before = time.monotonic(), peer.call('step')['time']
        time.sleep(0.6)
        after = peer.call('step')['time']
        took = time.monotonic() - start
    finally:
        peer.ask('set_sim_speed', percent=100.0)
    expect(0 < after - before < 0.13 * took, f'about {0.1 * took:.3f} s', after - before)


@check('set_control_source.reply', PROTOCOL, 'set_control_source', 'only that articulation flips')
def source_reply(peer: Peer) -> None:
    """The reply has source and scope: global, or articulation with its name."""
    try:
        for source in ('ui', 'zmq'):
            answer = peer.call('set_control_source', source=source)
            equal('source', answer.get('source'), source)
            equal('scope', answer.get('scope'), 'global')
        for block in peer.blocks[:1]:
            answer = peer.call('set_control_source', source='zmq', articulation=block['prefix'])
            equal('source', answer.get('source'), 'zmq')
            equal('scope', answer.get('scope'), 'articulation')
    finally:
        peer.ask('set_control_source', source='zmq')


@check('set_control_source.bad_value', PROTOCOL, 'set_control_source',
       'An unknown source returns bad_value')  # fmt: skip
def source_bad(peer: Peer) -> None:
    """An unknown source answers bad_value; none at all missing_field."""
    peer.refused('bad_value', 'set_control_source', source='no_such_source')
    peer.refused('missing_field', 'set_control_source')


@check('set_control_source.unknown', PROTOCOL, 'Errors', 'named articulation does not resolve')
def source_unknown(peer: Peer) -> None:
    """An unknown articulation answers unknown_articulation."""
    name = 'no_such_robot'
    peer.refused('unknown_articulation', 'set_control_source', source='zmq', articulation=name)


@check('set_control_source.switches', PROTOCOL, 'set_control_source',
       'Flips the actuator-read source', modes=DIRECT)  # fmt: skip
def switches(peer: Peer) -> None:
    """With source ui the actuators do not follow what the bridge writes; with zmq they do."""
    robot, _ = peer.robot(
        lambda robot, block: robot.actuators and 'controller' not in block,
        'with actuators and without controller',
    )
    values = [0.25] * len(robot.actuators)
    command = {robot.prefix: {'ctrl': values, 'control_mode': 'raw'}}
    try:
        peer.call('set_control_source', source='ui', articulation=robot.prefix)
        got = peer.call('step', per_articulation=command)['per_articulation'][robot.prefix]
        expect(got['ctrl'] != values, 'other ctrl than the bridge writes', got['ctrl'])
    finally:
        peer.ask('set_control_source', source='zmq')
    got = peer.call('step', per_articulation=command)['per_articulation'][robot.prefix]
    close('ctrl with source zmq', got['ctrl'], values, 1e-6)


@check('e_stop', PLUGIN, 'extension e_stop', modes=DIRECT)
def e_stop(peer: Peer) -> None:
    """While the e-stop is engaged, steps advance without commands, and setpoints are refused."""
    if not peer.extension('e_stop'):
        raise skip('the server has no extension e_stop')
    robot, block = peer.robot(
        lambda robot, block: block.get('actuator_types') and 'controller' not in block,
        'with actuators and without controller',
    )
    values = [0.25] * len(robot.actuators)
    command = {robot.prefix: {'ctrl': values, 'control_mode': 'raw'}}
    request = {'articulation': robot.prefix, 'values': {next(iter(block['actuator_types'])): 0.25}}
    try:
        equal('engaged', field(peer.call('e_stop', engaged=True), 'engaged', 'bool'), True)
        peer.call('reset')
        equal('e_stop of status after a reset', peer.call('status').get('e_stop'), True)
        before = peer.call('forward')['time']
        reply = peer.call('step', per_articulation=command)
        expect(reply['time'] > before, f'later than {before}', reply['time'])
        equal('e_stop of step', reply.get('e_stop'), True)
        got = reply['per_articulation'][robot.prefix]['ctrl']
        expect(got != values, 'other ctrl than the command has', got)
        peer.refused('e_stop_engaged', 'set_setpoints', **request)
    finally:
        peer.ask('e_stop', engaged=False)
    equal('e_stop of status', peer.call('status').get('e_stop'), False)
    peer.call('set_setpoints', **request)
