# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of Nav2 fit the robots and their bridge; the maps fit their worlds."""

import math

from map_reader import read_map
import mujoco
import numpy as np
import pytest
from rclpy.context import Context
from rclpy.node import Node
import yaml

from test.config.running_world import CONFIG
from test.config.running_world import interface
from test.config.running_world import parameters_of
from urlab_ros_bridge.cli.processes.nav2 import nav2_worlds
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.maps.floor_map import is_solid
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


@pytest.mark.ros
@pytest.mark.parametrize('world_name', PREPARED)
def test_ros_itself_reads_the_file(world_name):
    """Its parser is stricter than YAML: no anchors, one type in a list."""
    file = file_for(world_name)
    tokens = list(yaml.scan(file.read_text()))
    assert not [t for t in tokens if isinstance(t, yaml.AnchorToken | yaml.AliasToken)]
    for name, values in nodes(world_name).items():
        if name == '/**':
            continue
        context = Context()
        context.init()
        node = Node(
            name,
            context=context,
            namespace=name if name.endswith('costmap') else '',
            cli_args=['--ros-args', '--params-file', str(file)],
            automatically_declare_parameters_from_overrides=True,
            start_parameter_services=False,
            enable_rosout=False,
        )
        read = {key: each.value for key, each in node.get_parameters_by_prefix('').items()}
        node.destroy_node()
        context.shutdown()
        flat = dict(flattened(values))
        assert read['use_sim_time'] is True
        assert {key: read[key] for key in flat} == flat


def flattened(values, start=''):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flattened(value, f'{start}{name}.')
        else:
            yield start + name, value


@pytest.mark.ros
def test_topics_are_those_of_the_running_bridge(prepared):
    found = nodes(prepared.name)
    for name, wanted in (
        ('/scan', 'sensor_msgs/msg/LaserScan'),
        ('/odom', 'nav_msgs/msg/Odometry'),
    ):
        assert prepared.topics[name] == [wanted]
    for values in found.values():
        assert named(values, 'odom_topic') <= {'/odom'}
        assert named(values, 'scan_topic') <= {'/scan'}
        if 'scan' in values:
            assert values['scan']['topic'] == '/scan'
    for costmap in (found['local_costmap'], found['global_costmap']):
        assert costmap['obstacle_layer']['scan']['topic'] == '/scan'
        assert costmap['static_layer']['map_topic'] == '/map'
    # What reaches the robot goes through smoother and monitor.
    assert found['collision_monitor']['cmd_vel_out_topic'] == 'cmd_vel'
    assert prepared.listener.node.count_subscribers('/cmd_vel') == 1


@pytest.mark.ros
def test_frames_are_those_of_the_running_bridge(prepared):
    roots = prepared.roots()
    settings = parameters_of(prepared.name)
    assert (settings['map_frame'], settings['odom_frame']) == ('map', 'odom')
    frames = set()
    for values in nodes(prepared.name).values():
        frames |= named(values, '_frame', '_frame_id')
    assert frames == {'map', 'odom', 'base_link'}
    scan = prepared.first(interface('sensor_msgs/msg/LaserScan'), 'scan', False)
    for frame in ('odom', 'base_link', scan.header.frame_id):
        assert roots[frame] == 'odom'
    # Where the map is, AMCL says, or the bridge when the launch file asks for it.
    assert roots['map'] == 'map' and settings['publish_map_to_odom'] is False


def test_no_speed_is_beyond_what_the_robot_may(world):
    limits = world.spec.articulations[0].twist.limits
    found = nodes(world.name)
    smoother = found['velocity_smoother']
    # The controller never moves a robot sideways.
    assert smoother['max_velocity'] == [limits.linear, 0.0, limits.angular]
    assert smoother['max_accel'] == [
        limits.linear_acceleration,
        0.0,
        limits.angular_acceleration,
    ]
    for low, high in (('min_velocity', 'max_velocity'), ('max_decel', 'max_accel')):
        assert smoother[low] == [-each for each in smoother[high]]
    follow = found['controller_server']['FollowPath']
    assert follow['desired_linear_vel'] < limits.linear
    assert follow['rotate_to_heading_angular_vel'] < limits.angular
    assert follow['max_angular_accel'] < limits.angular_acceleration


def outline(world):
    """
    Return what a robot is made of seen from above, in its base frame: shape (n, 2), m.

    One that walks stands.
    """
    model, data = world.model, mujoco.MjData(world.model)
    (robot,) = world.articulations.values()
    if 'stand' in world.keyframe_names:
        mujoco.mj_resetDataKeyframe(model, data, model.key(f'{robot.prefix}_stand').id)
    mujoco.mj_forward(model, data)
    bodies = [body.id for body in robot.bodies.values()]
    middle = data.xpos[bodies[0], :2]
    geoms = np.flatnonzero(is_solid(model) & np.isin(model.geom_bodyid, bodies))
    # Rays from outside to the axis of the robot, at all heights, meet its hull.
    seen = np.full(model.ngeom, 1)
    seen[geoms] = 0
    model.geom_group[:] = seen
    found, geom = [], np.zeros(1, np.int32)
    for height in np.arange(0.005, 0.56, 0.01):
        for angle in np.linspace(-math.pi, math.pi, 180, endpoint=False):
            outward = np.array([math.cos(angle), math.sin(angle), 0.0])
            start = np.array([*middle, height]) + outward
            group = np.array([1, 0, 0, 0, 0, 0], np.uint8)
            far = mujoco.mj_ray(model, data, start, -outward, group, 1, -1, geom)
            if far >= 0:
                found.append((1.0 - far) * outward[:2])
    return np.array(found)


def footprint_of(costmap):
    """Return the corners of a footprint, shape (n, 2), or of the square around a circle."""
    if 'footprint' in costmap:
        assert 'robot_radius' not in costmap
        return np.array(yaml.safe_load(costmap['footprint']))
    radius = costmap['robot_radius']
    return radius * np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])


def test_the_footprint_is_that_of_the_model(world):
    points, found = outline(world), nodes(world.name)
    local, whole = (found[name] for name in ('local_costmap', 'global_costmap'))
    np.testing.assert_array_equal(footprint_of(local), footprint_of(whole))
    if 'robot_radius' in local:
        hull = np.linalg.norm(points, axis=1).max()
        assert hull <= local['robot_radius'] <= hull + 0.03
        return
    # A foot is put down half a step before where it stands, and leaves half a step behind it.
    gait = world.spec.articulations[0].twist
    speed = found['controller_server']['FollowPath']['desired_linear_vel']
    step = np.array([0.5 * speed * gait.duty * gait.cycle_time, 0.0])
    corners = footprint_of(local)
    for box, needed in (
        (corners.max(axis=0), points.max(axis=0) + step),
        (-corners.min(axis=0), -points.min(axis=0) + step),
    ):
        assert (needed <= box).all() and (box <= needed + 0.05).all(), (needed, box)


def test_the_robot_starts_on_free_floor_at_the_origin_of_the_map(world):
    drawn = read_map(CONFIG / 'nav2' / 'maps' / f'{world.name}.yaml')
    (robot,) = world.articulations.values()
    base = robot.first_body.id
    assert world.data.xpos[base][:2] == pytest.approx([0.0, 0.0])
    yaw = yaw_of(wxyz_to_xyzw(world.data.xquat[base].tolist()))
    assert yaw == pytest.approx(0.0, abs=1e-6)
    radius = footprint_of(nodes(world.name)['local_costmap']).max()
    around = np.linspace(-radius, radius, 18)
    square = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    assert set(drawn.value(square)) == {0}
