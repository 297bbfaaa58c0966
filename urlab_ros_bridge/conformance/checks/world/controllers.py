# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_twist, set_navigation_target and configure_controller."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.stepping.observations import has_twist
from urlab_ros_bridge.conformance.checks.stepping.step_forces import controlled
from urlab_ros_bridge.conformance.checks.stepping.step_forces import pd_torques
from urlab_ros_bridge.conformance.checks.stepping.step_forces import targets
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.model import Robot
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

SETTLE = 0.3  # s of simulation until a twist is what was asked for


def twisted(peer: Peer, wanted: bool = True) -> Robot:
    """Return an articulation with a twist controller, or one without."""
    observed = peer.call('step', observations='standard')['per_articulation']
    robot, _ = peer.robot(
        lambda robot, block: has_twist(block, observed[robot.prefix]) is wanted,
        'with a twist controller' if wanted else 'without a twist controller',
    )
    return robot


@check('set_twist.reply', PLUGIN, 'set_twist', modes=DIRECT)
def twist_reply(peer: Peer) -> None:
    """The reply echoes the articulation and the twist, unused slots as 0."""
    prefix = twisted(peer).prefix
    reply = peer.call(
        'set_twist', articulation=prefix, linear=[0.2, 0.0, 9.0], angular=[9.0, 9.0, 0.1]
    )
    equal('articulation', reply.get('articulation'), prefix)
    close('linear', field(reply, 'linear', 'vector', 3), [0.2, 0.0, 0.0], 1e-6)
    close('angular', field(reply, 'angular', 'vector', 3), [0.0, 0.0, 0.1], 1e-6)


@check('set_twist.every', PLUGIN, 'set_twist', modes=DIRECT)
def twist_every(peer: Peer) -> None:
    """Every articulation with actuators takes a twist, holds it and shows it, wheels or not."""
    observed = [block['prefix'] for block in peer.blocks if block.get('actuator_types')]
    if not observed:
        raise skip('no articulation has actuators')
    try:
        for prefix in observed:
            request = {'linear': [0.05, 0.0, 0.0], 'angular': [0.0, 0.0, 0.1]}
            reply = peer.call('set_twist', articulation=prefix, **request)
            wanted = [*field(reply, 'linear', 'vector', 3), *field(reply, 'angular', 'vector', 3)]
            expect(any(wanted), 'a twist that is not zero', wanted)
            settle = int(SETTLE / peer.timestep)  # a controller may limit accelerations
            for n_steps in (settle, 1):
                block = peer.call('step', n_steps=n_steps)['per_articulation'][prefix]
                shown = [
                    *field(block, 'twist/linear', 'vector', 3),
                    *field(block, 'twist/angular', 'vector', 3),
                ]
                close(f'twist of {prefix}', shown, wanted, 1e-6)
    finally:
        for prefix in observed:
            peer.ask('set_twist', articulation=prefix)


@check('set_twist.observed', PROTOCOL, 'set_twist', 'other slots are ignored', modes=DIRECT)
def twist_observed(peer: Peer) -> None:
    """The twist of the next observation is (vx, vy, 0) and (0, 0, yaw rate); absent means 0."""
    prefix = twisted(peer).prefix
    for request, linear, yaw in (
        ({'linear': [0.2, 0.0, 9.0], 'angular': [9.0, 9.0, 0.1]}, [0.2, 0.0, 0.0], 0.1),
        ({}, [0.0, 0.0, 0.0], 0.0),
    ):
        peer.call('set_twist', articulation=prefix, **request)
        settle = int(SETTLE / peer.timestep)  # a controller may limit accelerations
        block = peer.call('step', n_steps=settle)['per_articulation'][prefix]
        close('twist.linear', field(block, 'twist/linear', 'vector', 3), linear, 1e-6)
        close('twist.angular', field(block, 'twist/angular', 'vector', 3), [0, 0, yaw], 1e-6)


@check('set_twist.no_twist_controller', PROTOCOL, 'set_twist',
       'no_twist_controller if none is attached', modes=DIRECT)  # fmt: skip
def no_twist(peer: Peer) -> None:
    """An articulation without a twist controller answers no_twist_controller."""
    peer.refused('no_twist_controller', 'set_twist', articulation=twisted(peer, False).prefix)


@check('set_twist.unknown', PROTOCOL, 'Errors', 'named articulation does not resolve')
def twist_unknown(peer: Peer) -> None:
    """An unknown articulation answers unknown_articulation."""
    peer.refused('unknown_articulation', 'set_twist', articulation='no_such_robot')


@check('set_navigation_target', PLUGIN, 'extension navigation_targets', modes=DIRECT)
def navigation_target(peer: Peer) -> None:
    """Status reports each target as it was announced, with ids that grow; bad ones are refused."""
    if not peer.extension('navigation_targets'):
        raise skip('the server has no extension navigation_targets')
    target = {
        'articulation': twisted(peer).prefix,
        'kind': 'goal',
        'x': -1.5,
        'y': 2.0,
        'yaw': 0.5,
    }
    announced = [target, {**target, 'kind': 'initial_pose', 'yaw': -3.0}]
    ids = [
        field(peer.call('set_navigation_target', **each), 'id', 'integer') for each in announced
    ]
    expect(ids[0] < ids[1], 'ids that grow', ids)
    reported = field(peer.call('status'), 'navigation_targets', 'array')
    expected = [{'id': number, **each} for number, each in zip(ids, announced, strict=True)]
    equal('navigation_targets of status', reported[-2:], expected)
    for code, fields in (
        ('bad_value', {'kind': 'home'}),
        ('bad_value', {'yaw': 'north'}),
        ('missing_field', {'x': None}),
        ('unknown_articulation', {'articulation': 'no_such_robot'}),
    ):
        peer.refused(code, 'set_navigation_target', **{**target, **fields})


def configure(peer: Peer, prefix: str, params: dict[str, Any]) -> dict[str, Any]:
    """Patch a controller and return its whole configuration."""
    reply = peer.call('configure_controller', articulation=prefix, params=params)
    equal('articulation', reply.get('articulation'), prefix)
    return field(reply, 'params', 'object')


@check('configure_controller.partial', PROTOCOL, 'configure_controller',
       'unmentioned fields are untouched')  # fmt: skip
def partial(peer: Peer) -> None:
    """A patch changes what it names and nothing else; the reply is the full configuration."""
    robot, block = controlled(peer)
    before = configure(peer, robot.prefix, {})
    name = robot.actuators[0][1]
    if not isinstance(before.get('kp'), dict) or 'default_kv' not in before:
        raise skip(f'the controller is of kind {block["controller"].get("kind")}')
    try:
        after = configure(peer, robot.prefix, {'kp': {name: 37.5}, 'default_kv': 5.5})
        expected = {**before, 'kp': {**before['kp'], name: 37.5}, 'default_kv': 5.5}
        equal('params', after, expected)
        equal('params read back', configure(peer, robot.prefix, {}), expected)
    finally:
        old = before['kp'].get(name, before['default_kp'])
        patch = {'kp': {name: old}, 'default_kv': before['default_kv']}
        peer.ask('configure_controller', articulation=robot.prefix, params=patch)


@check('configure_controller.acts', PROTOCOL, 'configure_controller',
       'Patches the active controller', modes=DIRECT)  # fmt: skip
def acts(peer: Peer) -> None:
    """New gains hold from the next sub-step on."""
    robot, block = controlled(peer)
    if block['controller'].get('kind') != 'pd':
        raise skip(f'the controller is of kind {block["controller"].get("kind")}')
    before, name = configure(peer, robot.prefix, {}), robot.actuators[0][1]
    old = before['kp'].get(name, before['default_kp'])
    try:
        params, goal = configure(peer, robot.prefix, {'kp': {name: old / 2}}), targets(peer, robot)
        state = peer.call('forward')['per_articulation'][robot.prefix]
        command = {robot.prefix: {'ctrl': goal, 'control_mode': 'ue_controller'}}
        got = peer.call('step', per_articulation=command)['per_articulation'][robot.prefix]
        close('ctrl', got['ctrl'], pd_torques(peer, robot, params, state, goal), 1e-3)
    finally:
        patch = {'kp': {name: old}}
        peer.ask('configure_controller', articulation=robot.prefix, params=patch)


@check('configure_controller.no_controller', PROTOCOL, 'Errors', 'target has no controller')
def no_controller(peer: Peer) -> None:
    """An articulation without controller answers no_controller."""
    robot, _ = peer.robot(lambda _, block: 'controller' not in block, 'without a controller')
    peer.refused('no_controller', 'configure_controller', articulation=robot.prefix, params={})


@check('configure_controller.unknown', PROTOCOL, 'Errors', 'named articulation does not resolve')
def unknown(peer: Peer) -> None:
    """An unknown articulation answers unknown_articulation."""
    request = {'articulation': 'no_such_robot', 'params': {}}
    peer.refused('unknown_articulation', 'configure_controller', **request)


@check('configure_controller.schema', PROTOCOL, 'Errors', "failed the controller's schema",
       stock='never raises controller_schema_violation')  # fmt: skip
def schema(peer: Peer) -> None:
    """Parameters against the schema are refused, and nothing of the patch is applied."""
    robot, block = controlled(peer)
    schema = field(block, 'controller/schema', 'object')
    scalars = [name for name, entry in schema.items() if entry.get('type') == 'scalar']
    if not scalars:
        raise skip('the schema has no scalar')
    before = configure(peer, robot.prefix, {})
    for bad in ('much', [1.0], *([-1.0] if 'min' in schema[scalars[0]] else [])):
        request = {'articulation': robot.prefix, 'params': {scalars[0]: bad}}
        peer.refused('controller_schema_violation', 'configure_controller', **request)
    expect(configure(peer, robot.prefix, {}) == before, 'params as before', 'others')
