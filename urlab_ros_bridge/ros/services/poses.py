# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services on poses, keyframes and contacts; a server without an op answers unknown_op."""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion

from urlab_ros_bridge.client.replies.ops import MocapPose
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.messages.contacts import contact_to_ros
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.context import ServiceContext


def finite(name: str, values: Iterable[float]) -> list[float]:
    """
    Return numbers of a request.

    :raises RequestRejected: bad_value for NaN or infinity.
    """
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        raise RequestRejected(BAD_VALUE, f'{name} is not finite: {numbers}')
    return numbers


def list_keyframes(context: ServiceContext, request: Any, response: Any) -> str:
    """List the keyframes of the model."""
    keyframe_type = load_interface('urlab_msgs/msg/Keyframe')
    response.keyframes = [
        keyframe_type(
            name=each.name,
            time=each.time,
            qpos=each.qpos.tolist(),
            qvel=each.qvel.tolist(),
            ctrl=each.ctrl.tolist(),
            mocap_pos=each.mocap_pos.tolist(),
            mocap_quat=each.mocap_quat.tolist(),
        )
        for each in context.client.list_keyframes()
    ]
    return ', '.join(each.name or '(no name)' for each in response.keyframes) or 'none'


def set_qpos(context: ServiceContext, request: Any, response: Any) -> str:
    """Write the positions of a robot, or return them."""
    client, robot = context.client, context.robot(request.articulation)
    response.articulation = robot.prefix
    if not len(request.qpos):
        state = client.forward().articulations.get(robot.prefix)
        response.qpos = [] if state is None else state.qpos.tolist()
        return f'{len(response.qpos)} positions'
    values = finite('qpos', request.qpos)
    written = client.set_qpos(robot.prefix, values, target_by='actor_name')
    response.qpos = written.qpos.tolist()
    response.free_base_shortcut = written.free_base_shortcut
    return 'wrote the pose of the base' if written.free_base_shortcut else 'wrote all positions'


def set_mocap_pose(context: ServiceContext, request: Any, response: Any) -> str:
    """Move a mocap body."""
    if request.ignore_position and request.ignore_orientation:
        return read_mocap_pose(context, request, response)
    point, quaternion = request.pose.position, request.pose.orientation
    position = finite('position', (point.x, point.y, point.z))
    rotation = finite('orientation', (quaternion.w, quaternion.x, quaternion.y, quaternion.z))
    pose = context.client.set_mocap_pose(
        _body(request),
        None if request.ignore_position else position,
        None if request.ignore_orientation else rotation,
    )
    response.pose = _pose(pose)
    return f'moved {pose.body}'


def read_mocap_pose(context: ServiceContext, request: Any, response: Any) -> str:
    """Return the pose of a mocap body."""
    pose = context.client.read_mocap_pose(_body(request))
    response.pose = _pose(pose)
    return pose.body


def _body(request: Any) -> str:
    if not request.body:
        raise RequestRejected('missing_field', 'body is empty')
    return request.body


def _pose(pose: MocapPose) -> Pose:
    (x, y, z), (qw, qx, qy, qz) = pose.pos.tolist(), pose.quat.tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def get_contacts(context: ServiceContext, request: Any, response: Any) -> str:
    """Return the contacts: geoms, positions and forces."""
    wanted = {key: getattr(request, key) or None for key in ('body1', 'body2', 'geom1', 'geom2')}
    found = context.client.get_contacts(request.max_contacts or None, **wanted)
    response.contacts = [contact_to_ros(each) for each in found.contacts]
    response.truncated = found.truncated
    more = ', and there are more' if found.truncated else ''
    count = len(found.contacts)
    return f'{count} contact{"" if count == 1 else "s"}{more}'


SERVICES = (
    Service('list_keyframes', 'urlab_msgs/srv/ListKeyframes', list_keyframes),
    Service('set_qpos', 'urlab_msgs/srv/SetQpos', set_qpos, ('set_qpos', 'forward')),
    Service(
        'set_mocap_pose',
        'urlab_msgs/srv/SetMocapPose',
        set_mocap_pose,
        ('set_mocap_pose', 'read_mocap_pose'),
    ),
    Service('read_mocap_pose', 'urlab_msgs/srv/ReadMocapPose', read_mocap_pose),
    Service('get_contacts', 'urlab_msgs/srv/GetContacts', get_contacts),
)

FEATURE = Feature('poses', services=SERVICES)
