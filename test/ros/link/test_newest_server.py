# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bridge with a server that speaks as the plugin does since v0.6."""

from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from small_world import SmallServer
from urlab_msgs import srv

from urlab_ros_bridge.ros.link.link_state import Phase

MODES = {'freerun': 'live', 'stepped': 'direct', 'statepushed': 'puppet'}
NAMES = {mode: name for name, mode in MODES.items()}


class NewestServer(SmallServer):
    """The small world, in the dialect of v0.6; a robot must be claimed before it is commanded."""

    def __init__(self):
        self.owner, self.streaming = None, {}
        super().__init__(extensions=(), send_rows=False)

    def _state(self, level):
        state = super()._state(level)
        return {**state, 'arts': state.pop('per_articulation'), 'scene': state.pop('entities')}

    def _op_hello(self, request, session):
        reply = super()._op_hello(request, session)
        (robot,) = reply.pop('articulations')
        box = {'prefix': 'box', 'actor_name': 'box', 'actuator_types': {}, 'has_free_base': True}
        reply['entities'] = [{**robot, 'actor_name': 'BP_0'}, box]
        camera = {'mode': 'real', 'resolution': [32, 24], 'fovy': 45.0, 'zmq_topic': 'camera/top'}
        reply['global_cameras'] = {'top': camera}
        return {**reply, 'urlab_version': 'urlab/0.6.0', 'instance': {'host': 'here'}}

    def _op_set_mode(self, request, session):
        if request['mode'] not in MODES:
            return {'op': 'error', 'code': 'bad_mode', 'message': request['mode']}
        reply = super()._op_set_mode({'mode': MODES[request['mode']]}, session)
        return {key: NAMES[mode] for key, mode in reply.items()}

    def _op_set_twist(self, request, session):
        if self.owner != request['session_id']:
            return {'op': 'error', 'code': 'not_control_owner', 'message': str(self.owner)}
        return super()._op_set_twist(request, session)

    def _op_claim_control(self, request, session):
        self.owner = request['session_id']
        return {'articulation': request['articulation'], 'owner': self.owner, 'ttl_s': 5.0}

    def _op_release_control(self, request, session):
        self.owner = None
        return {'articulation': request['articulation']}

    def _op_set_camera_streaming(self, request, session):
        self.streaming |= request['cameras']
        return {'cameras': {name: {'streaming': True} for name in request['cameras']}}


def test_robots_are_published_and_driven_and_cameras_switched_on(bridged, keep):
    server = keep(NewestServer())
    bridge, listener = bridged(server, cmd_vel_type='twist')
    wait_until(lambda: bridge.settled)
    first = listener.wait_for(Clock, '/clock', qos=LISTEN_BEST_EFFORT)
    listener.wait_for(Clock, '/clock', lambda m: m.clock.nanosec > first.clock.nanosec)
    assert listener.wait_for(JointState, 'joint_states').name == ['shoulder', 'lift']
    assert listener.wait_for(Imu, 'imu/data').orientation_covariance[0] != -1
    assert listener.wait_for(PoseStamped, 'entities/box/pose').header.stamp
    publisher = listener.publisher(Twist, 'cmd_vel')
    message = Twist()
    message.linear.x = 0.5

    def driven():
        publisher.publish(message)
        return server.of('set_twist') and server.owner

    wait_until(driven, every=0.05)
    listener.wait_for(Odometry, 'odom', lambda m: m.twist.twist.linear.x > 0.3)
    assert server.streaming == {'top': True}
    response = listener.call(srv.SetMode, '/set_mode', mode='direct')
    assert response.success and server.mode == 'direct'
    assert len(server.of('hello')) == 1 and bridge.link.state.phase is Phase.CONNECTED
    bridge.node.stop()
    assert server.owner is None
