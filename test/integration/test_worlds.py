# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Several robots, fixed bases, and models without a sidecar."""

from bridge_harness import wait_for_time
from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from urlab_msgs import srv

FLEET = ('rover_1', 'rover_2')


def test_a_keyframe_of_a_robot_resets_that_robot_alone_and_time_goes_on(simulation):
    server, _, listener = simulation('--world', 'fleet')
    poses = {name: listener.listen(PoseStamped, f'{name}/ground_truth/pose') for name in FLEET}
    wait_until(lambda: all(poses.values()))
    drive = {'articulation': 'rover_2', 'linear': Vector3(x=0.5)}
    assert listener.call(srv.SetTwist, '/set_twist', **drive).success

    def place(name):
        point = wait_for_time(poses[name], server.now_ns()).pose.position
        return np.array([point.x, point.y])

    start = place('rover_1')
    home = place('rover_2')
    wait_until(lambda: np.linalg.norm(place('rover_2') - home) > 0.3)
    before = server.now_ns()
    for number, fields in enumerate(
        ({'keyframe_name': 'rover_1_dock'}, {'articulation': 'rover_1'})
    ):
        response = listener.call(srv.Reset, '/reset', **fields)
        assert response.success and 'rover_1' in response.message, response
        assert response.sim_time.sec * 10**9 + response.sim_time.nanosec >= before
        assert np.linalg.norm(place('rover_2') - home) > 0.3
        assert (np.linalg.norm(place('rover_1') - start) > 0.1) == (number == 0)
    refused = listener.call(srv.Reset, '/reset', keyframe_name='dock')
    assert refused.code == 'bad_value' and 'rover_1_dock, rover_2_dock' in refused.message
    assert (
        listener.call(srv.Reset, '/reset', articulation='rover_1', time=True).code == 'bad_value'
    )
    # One node, one publisher of a topic.
    for topic in ('/tf_static', '/clock'):
        assert len(listener.node.get_publishers_info_by_topic(topic)) == 1


def test_the_fleet_has_a_namespace_frames_and_commands_for_each_robot(simulation):
    _, _, listener = simulation('--world', 'fleet', cmd_vel_type='twist')
    names = ('rover_1', 'rover_2', 'quadruped')
    starts = {}
    for name in names:
        odom = listener.wait_for(Odometry, f'/{name}/odom')
        assert (odom.header.frame_id, odom.child_frame_id) == ('odom', 'base_link')
        starts[name] = odom.pose.pose.position
    joints = listener.wait_for(JointState, '/quadruped/joint_states')
    assert len(joints.name) == 12 and not any('rover' in name for name in joints.name)
    samples = [listener.listen(Imu, f'/rover_{i}/imu/data') for i in (1, 2)]
    # In the first moments the robots settle.
    settled = lambda rows: [m for m in list(rows) if m.header.stamp.sec >= 1]  # noqa: E731
    wait_until(lambda: min(len(settled(rows)) for rows in samples) > 30)
    noisy, exact = ([m.linear_acceleration.x for m in settled(rows)] for rows in samples)
    assert max(map(abs, exact)) < 5e-3 < max(noisy) - min(noisy)
    drive = listener.node.create_publisher(Twist, '/rover_2/cmd_vel', 10)

    def moved(name):
        now, start = listener.received[f'/{name}/odom'][-1].pose.pose.position, starts[name]
        return ((now.x - start.x) ** 2 + (now.y - start.y) ** 2) ** 0.5

    def driven():
        drive.publish(Twist(linear=Vector3(x=0.5)))
        return moved('rover_2') > 0.2

    wait_until(driven)
    assert moved('rover_1') < 0.02 and moved('quadruped') < 0.05
    for name in names:
        tree = listener.wait_for(
            TFMessage, f'/{name}/tf', lambda message: len(message.transforms) > 0
        )
        at = {(t.header.frame_id, t.child_frame_id): t.transform for t in tree.transforms}
        assert ('odom', 'base_link') in at
    assert '/tf' not in dict(listener.node.get_topic_names_and_types())
