# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Navigation targets: who may announce one, and how long status reports it."""

from urlab_ros_bridge.sim.requests import navigation
from urlab_ros_bridge.wire.ops import NAVIGATION_SECONDS

TARGET = {'articulation': 'rover', 'kind': 'goal', 'x': -3.0, 'y': 2.5, 'yaw': 1.0}
HERE = {**TARGET, 'kind': 'initial_pose'}


def reported(rig):
    return rig.ask('status')['navigation_targets']


def test_every_session_reads_a_target_for_some_seconds(rover, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(navigation.time, 'monotonic', lambda: now[0])
    number = rover.ask('set_navigation_target', **TARGET)['id']
    now[0] += NAVIGATION_SECONDS / 2
    rover.ask('set_navigation_target', **HERE)
    other = rover.caller(shared=True)
    assert reported(other) == [{'id': number, **TARGET}, {'id': number + 1, **HERE}]
    now[0] += NAVIGATION_SECONDS / 2
    assert reported(other) == [{'id': number + 1, **HERE}]


def test_ids_grow_across_a_change_of_the_world_and_a_flood_keeps_the_newest(rover):
    ids = [rover.ask('set_navigation_target', **TARGET)['id'] for _ in range(40)]
    crate = '<mujoco><worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>'
    rover.ask('spawn_entity', name='crate', xml=crate, pos=[2.0, 0.0, 1.0])
    ids.append(rover.ask('set_navigation_target', **TARGET)['id'])
    assert ids == sorted(set(ids))
    listed = [target['id'] for target in reported(rover)]
    assert listed == ids[-len(listed) :] and len(listed) <= 16


def test_only_the_claimant_sets_targets_and_an_e_stop_refuses_goals(rover):
    other = rover.caller(shared=True)
    rover.ask('claim_control', articulation='rover')
    for target in (TARGET, HERE):
        assert other.code('set_navigation_target', **target) == 'not_control_owner'
        rover.ask('set_navigation_target', **target)
    rover.ask('release_control', articulation='rover')
    rover.ask('e_stop', engaged=True)
    assert other.code('set_navigation_target', **TARGET) == 'e_stop_engaged'
    other.ask('set_navigation_target', **HERE)
