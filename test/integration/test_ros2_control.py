# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped files of controllers, with the bundled worlds and what the plugin sends."""

import math

from bridge_harness import LATCHED
from bridge_harness import wait_until
from nav_msgs.msg import Odometry
import pytest
from simulations import ServerProgram
from std_msgs.msg import String
from topic_system import Block
from topic_system import TopicSystem
import yaml

from urlab_ros_bridge.cli.arguments.controllers import controller_names
from urlab_ros_bridge.files.folders import shipped_file

WORLDS = sorted(file.stem for file in shipped_file('config/ros2_control').glob('*.yaml'))


def joints_of(parameters):
    """Return (joint, command interface) of a controller."""
    wheels = [*parameters.get('left_wheel_names', ()), *parameters.get('right_wheel_names', ())]
    return [(wheel, 'velocity') for wheel in wheels] + [
        (joint, interface)
        for joint in parameters.get('joints', ())
        for interface in parameters['command_interfaces']
    ]


@pytest.mark.slow
@pytest.mark.parametrize('world', WORLDS)
def test_the_plugin_moves_what_the_shipped_controllers_command(simulation, world):
    file = shipped_file(f'config/ros2_control/{world}.yaml')
    nodes = yaml.safe_load(file.read_text())
    _, _, listener = simulation(
        ServerProgram(f'--world={world}', '--cameras=off'), ros2_control='true'
    )
    text = listener.wait_for(String, '/robot_description', qos=LATCHED).data
    system = listener.run(lambda: TopicSystem(listener.node, Block.of(text)))
    block = system.block
    wait_until(lambda: system.publisher.get_subscription_count() and system.received)

    received = system.received
    system.cycle_until(lambda: system.received > received + 50)
    assert set(nodes) == {'controller_manager', *controller_names(str(file))} - {
        'joint_state_broadcaster'
    }
    commanded = [key for node in nodes.values() for key in joints_of(node['ros__parameters'])]
    assert commanded and set(commanded) <= set(block.commands)
    start = {joint: block.states[joint, 'position'] for joint, _ in commanded}
    for key in commanded:
        block.commands[key] = 4.0 if key[1] == 'velocity' else start[key[0]] + 0.2
    listener.listen(Odometry, '/odom')
    system.cycle_until(
        lambda: all(abs(block.states[joint, 'position'] - start[joint]) > 0.15 for joint in start)
    )
    assert all(math.isfinite(value) for value in block.states.values()) and not system.problems
    if world == 'rover':
        radius = nodes['diff_drive_controller']['ros__parameters']['wheel_radius']
        system.cycle_until(
            lambda: block.states['left_wheel', 'velocity'] == pytest.approx(4.0, rel=0.05)
        )
        # Without a command it brakes soon: the speed is that of a time when it is commanded.
        speed, odom = pytest.approx(4.0 * radius, rel=0.1), listener.received['/odom']
        system.cycle_until(lambda: odom and odom[-1].twist.twist.linear.x == speed)
    # Speeds must be repeated in every cycle, or else be zero.
    block.commands |= {key: 0.0 for key in commanded if key[1] == 'velocity'}
    system.cycle()
    assert not listener.node.count_publishers('/joint_states')
