# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot with meshes from another package, without a sidecar: served and bridged."""

import importlib.util
from pathlib import Path

from bridge_harness import LATCHED
from bridge_harness import wait_for_message
from bridge_harness import wait_until
import mujoco
import pytest
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros
TFMessage = pytest.importorskip('tf2_msgs.msg').TFMessage
srv = pytest.importorskip('urlab_msgs.srv')


def asset(name):
    """Return a model of gymnasium-robotics; the set-up installs that package for this test."""
    found = importlib.util.find_spec('gymnasium_robotics')
    assert found is not None, 'gymnasium-robotics is not installed: run `make setup`'
    return Path(found.origin).parent / 'envs' / 'assets' / name


def test_a_hand_with_meshes_is_bridged_without_sidecar(simulation):
    path = asset('hand/manipulate_block.xml')
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.nmesh > 10
    hinges = [
        model.joint(joint).name
        for joint in range(model.njnt)
        if model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_HINGE)
    ]
    _, _, listener = simulation('--model', path)
    states = wait_for_message(
        listener, JointState, 'joint_states', lambda message: message.header.stamp.sec >= 1
    )
    assert sorted(states.name) == sorted(hinges)
    assert len(states.position) == len(states.velocity) == len(states.effort) == len(hinges)
    assert all(abs(value) < 10 for value in (*states.position, *states.velocity))
    still = wait_for_message(listener, TFMessage, '/tf_static', qos=LATCHED)
    assert any(t.header.frame_id == 'map' for t in still.transforms)
    names = {name for name, _ in listener.node.get_topic_names_and_types()}
    assert {'/entities/object/pose', '/cmd_vel'} <= names
    response = listener.call(srv.Reset, '/reset', time=True)
    assert response.success, response
    wait_until(lambda: listener.heard['joint_states'][-1].header.stamp.sec == 0)
