# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin of ros2_control with the robot_description of the bridge, over DDS."""

import math

from bridge_harness import CapturedLog
from bridge_harness import LATCHED
from bridge_harness import wait_until
import pytest
from small_model import XML
from std_msgs.msg import String
from topic_system import Block
from topic_system import TopicSystem

from urlab_ros_bridge.client.client import Client

# A servo (shoulder), a motor (lift) and a joint without an actuator (wrist), which follows one.
MIXED = XML.replace(
    '<site name="{p}_hand" pos="0 0.1 0"/>',
    '<site name="{p}_hand" pos="0 0.1 0"/><body name="{p}_wrist" pos="0 .2 0">'
    '<joint name="{p}_wrist" type="hinge" axis="1 0 0"/><geom size="0.05" mass=".2"/></body>',
).replace(
    '<actuator>',
    '<equality><joint joint1="{p}_wrist" joint2="{p}_shoulder" polycoef="0.1 -1 0 0 0"/>'
    '</equality><actuator>',
)


@pytest.mark.distro
def test_the_plugin_moves_joints_of_several_kinds_and_gets_the_states_that_it_declares(
    small_server, bridged, tmp_path, capfd
):
    log = CapturedLog(capfd)
    server, states = small_server(model_xml=MIXED), ('position', 'velocity')
    parameters = {'ros2_control_states': states, 'mesh_directory': str(tmp_path)}
    bridge, listener = bridged(server, ros2_control=True, **parameters)
    text = listener.wait_for(String, 'robot_description', qos=LATCHED).data
    system = listener.run(lambda: TopicSystem(listener.node, Block.of(text)))
    wait_until(lambda: system.publisher.get_subscription_count() and system.received)
    # Those of the controllers are theirs.
    taken = {name for name, _ in listener.node.get_topic_names_and_types()}
    assert '/joint_commands' in taken and '/joint_states' not in taken
    assert not [name for name in taken if '_controller/' in name]
    block, received = system.block, system.received
    assert set(block.commands) == {('shoulder', 'position'), ('lift', 'effort')}
    assert set(block.states) == {(j, s) for j in ('shoulder', 'wrist', 'lift') for s in states}
    system.cycle_until(lambda: system.received > received + 20)  # no controller yet: NaN
    assert not server.data.ctrl.any()
    block.commands |= {('shoulder', 'position'): 0.4, ('lift', 'effort'): 0.5}
    system.cycle_until(lambda: server.data.ctrl.tolist() == [0.4, 0.5])
    before = {key: value for key, value in block.states.items() if key[1] == 'position'}
    system.cycle_until(lambda: all(block.states[key] != value for key, value in before.items()))
    assert all(map(math.isfinite, block.states.values()))
    assert not system.problems and not bridge.commands.rejections.counts
    # Time goes back, which controller_manager does not expect.
    with Client('127.0.0.1', server.ports['rpc']) as client:
        client.reset()
    wait_until(lambda: log.with_words('controller_manager runs no cycle'))
