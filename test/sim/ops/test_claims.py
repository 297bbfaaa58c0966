# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Claims: the owner of an articulation commands it alone; without claims everybody does."""

import pytest

from urlab_ros_bridge.sim.requests import claims

CTRL = {'rover': {'ctrl': [1.0, 1.0]}}
COMMANDS = (
    ('step', {'per_articulation': CTRL}),
    ('set_twist', {'articulation': 'rover', 'linear': [0.1, 0.0, 0.0]}),
    ('set_setpoints', {'articulation': 'rover', 'values': {'left_wheel': 1.0}}),
    ('set_qpos', {'target': 'rover', 'qpos': [0, 0, 1, 1, 0, 0, 0]}),
    ('set_entity_state', {'entity': 'rover', 'linear': [1.0, 0.0, 0.0]}),
    ('apply_wrench', {'articulation': 'rover', 'force': [1.0, 0.0, 0.0]}),
    ('pull_body', {'body': 'rover_base_link', 'target': [0.1, 0.0, 0.0]}),
    ('step', {'per_articulation': {'rover': {'xfrc_applied': {'base_link': [1.0] * 6}}}}),
    ('reset', {'per_articulation_qpos': {'rover': {'left_wheel': 1.0}}}),
    ('set_control_source', {'source': 'ui'}),
)
CRATE = '<mujoco><worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>'


@pytest.fixture
def other(rover):
    return rover.caller(shared=True, client='other')


@pytest.fixture
def clock(monkeypatch):
    """Return a list with the time that claims see."""
    now = [100.0]
    monkeypatch.setattr(claims.time, 'monotonic', lambda: now[0])
    return now


@pytest.mark.parametrize(('op', 'fields'), COMMANDS)
def test_commands_of_others_are_refused_while_a_claim_lasts(rover, other, op, fields):
    for _ in range(3):  # a repeated request too
        other.ask(op, **fields)
    reply = rover.ask('claim_control', articulation='rover')
    assert reply['articulation'] == 'rover' and reply['ttl_s'] == claims.DEFAULT_TTL
    for _ in range(3):
        assert other.code(op, **fields) == 'not_control_owner'
        rover.ask(op, **fields)
    # Reading, and stopping a robot, is for everybody.
    other.ask('step')
    other.ask('set_twist', articulation='rover')
    assert other.code('claim_control', articulation='rover') == 'control_claimed'
    assert other.code('release_control', articulation='rover') == 'not_control_owner'
    rover.ask('release_control', articulation='rover')
    other.ask(op, **fields)


def test_a_claim_ends_without_commands_of_its_owner(rover, other, clock):
    rover.ask('claim_control', articulation='rover', ttl_s=2.0)
    for _ in range(3):
        clock[0] += 1.5
        rover.ask('step', per_articulation=CTRL)  # renews it
    assert other.code('claim_control', articulation='rover') == 'control_claimed'
    clock[0] += 2.5
    other.ask('step', per_articulation=CTRL)
    assert other.ask('claim_control', articulation='rover')['owner'].startswith('other')


def test_claims_outlive_a_change_of_the_world(rover, other):
    rover.ask('claim_control', articulation='rover')
    other.ask('spawn_entity', name='crate', xml=CRATE, pos=[2.0, 0.0, 1.0])
    op, fields = COMMANDS[0]
    assert other.code(op, **fields) == 'not_control_owner'
    assert rover.code(op, **fields) == 'session_expired'
    rover.hello(shared=True, session_id=rover.session_id)
    rover.ask(op, **fields)
    other.ask('delete_entity', entity='rover')
    assert not rover.host.simulation.claims.check(['rover'], None, None)


def test_what_others_see_of_an_owner_does_not_let_them_command(rover, other):
    op, fields = COMMANDS[0]
    for secret in (None, 'secret'):
        owner = {} if secret is None else {'control_owner': secret}
        rover.ask('claim_control', articulation='rover', **owner)
        seen = str(other.refusal(op, **fields))
        label = seen.partition('claimed by ')[2]
        assert label and rover.session_id not in seen and 'secret' not in seen
        assert other.code(op, **fields, control_owner=label) == 'not_control_owner'
        rover.ask(op, **fields, **owner)
        rover.ask('release_control', articulation='rover', **owner)
