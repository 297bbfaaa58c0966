# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of Nav2 fit the robots and their bridge; the maps fit their worlds."""

from map_reader import read_map
import numpy as np
import pytest
import yaml

from test.config.running_world import CONFIG
from test.config.running_world import interface
from urlab_ros_bridge.cli.processes.nav2 import nav2_worlds
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

PREPARED = nav2_worlds()


def file_for(world):
    return CONFIG / 'nav2' / f'{world}.yaml'


def nodes(world):
    """Return the parameters of each node, those of the nested costmaps by their plain name."""
    found = yaml.safe_load(file_for(world).read_text())
    return {name: each.get(name, each)['ros__parameters'] for name, each in found.items()}


def named(values, *endings):
    """Return all values whose name has one of the endings, at any depth."""
    found = set()
    for name, value in values.items():
        if isinstance(value, dict):
            found |= named(value, *endings)
        elif name.endswith(endings):
            found.add(value)
    return found


@pytest.fixture(scope='module', params=PREPARED)
def world(request):
    return load_world(ServerConfig(world=request.param))


@pytest.fixture
def prepared(running):
    """Return a running world that has parameters for Nav2."""
    if running.name not in PREPARED:
        pytest.skip('there are no parameters of Nav2 for this world')
    return running


def test_topics_are_those_of_the_running_bridge(prepared):
    found = nodes(prepared.name)
    assert prepared.topics['/scan'] == ['sensor_msgs/msg/LaserScan']
    assert prepared.topics['/odom'] == ['nav_msgs/msg/Odometry']
    for values in found.values():
        assert named(values, 'odom_topic') <= {'/odom'}
        assert named(values, 'scan_topic') <= {'/scan'}
    sources = (
        found['collision_monitor'],
        *(found[name]['obstacle_layer'] for name in ('local_costmap', 'global_costmap')),
    )
    assert {each['scan']['topic'] for each in sources} == {'/scan'}
    # What reaches the robot goes through smoother and monitor.
    assert found['collision_monitor']['cmd_vel_out_topic'] == 'cmd_vel'
    assert prepared.listener.node.count_subscribers('/cmd_vel') == 1


def test_frames_are_those_of_the_running_bridge(prepared):
    roots = prepared.roots()
    frames = set()
    for values in nodes(prepared.name).values():
        frames |= named(values, '_frame', '_frame_id')
    assert frames == {'map', 'odom', 'base_link'}
    scan = prepared.first(interface('sensor_msgs/msg/LaserScan'), 'scan', False)
    assert {roots[name] for name in ('odom', 'base_link', scan.header.frame_id)} == {'odom'}
    # Where the map is, AMCL says, or the bridge when the launch file asks for it.
    assert roots['map'] == 'map'


def test_no_speed_exceeds_the_limits_of_the_robot(world):
    limits = world.spec.articulations[0].twist.limits
    found = nodes(world.name)
    smoother, follow = found['velocity_smoother'], found['controller_server']['FollowPath']
    # The controller never moves a robot sideways.
    assert smoother['max_velocity'] == [limits.linear, 0.0, limits.angular]
    fastest = [limits.linear_acceleration, 0.0, limits.angular_acceleration]
    assert smoother['max_accel'] == fastest
    for low, high in (('min_velocity', 'max_velocity'), ('max_decel', 'max_accel')):
        assert smoother[low] == [-each for each in smoother[high]]
    assert follow['desired_linear_vel'] < limits.linear
    assert follow['rotate_to_heading_angular_vel'] < limits.angular
    assert follow['max_angular_accel'] < limits.angular_acceleration


def test_the_robot_starts_on_free_floor_at_the_origin_of_the_map(world):
    drawn = read_map(CONFIG / 'nav2' / 'maps' / f'{world.name}.yaml')
    (robot,) = world.articulations.values()
    base = robot.first_body.id
    assert world.data.xpos[base][:2] == pytest.approx([0.0, 0.0])
    yaw = yaw_of(wxyz_to_xyzw(world.data.xquat[base].tolist()))
    assert yaw == pytest.approx(0.0, abs=1e-6)
    costmap = nodes(world.name)['local_costmap']
    radius = np.max(yaml.safe_load(costmap.get('footprint', '0')) or costmap['robot_radius'])
    around = np.linspace(-radius, radius, 18)
    square = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    assert set(drawn.value(square)) == {0}
