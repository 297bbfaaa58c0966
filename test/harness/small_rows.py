# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the small world."""

import mujoco
from small_model import PREFIX

from urlab_ros_bridge.wire import rows

SLIDE = mujoco.mjtJoint.mjJNT_SLIDE.value


def send_rows(server):
    """Publish the present state as rows."""
    data, model, send = server.data, server.model, server._send
    joints = [
        joint
        for joint in range(1, model.njnt)
        if model.joint(joint).name.startswith(PREFIX) and model.jnt_type[joint] >= SLIDE
    ]
    dofs = model.jnt_dofadr[joints]
    for joint, slot, dof in zip(joints, model.jnt_qposadr[joints], dofs, strict=True):
        name = model.joint(joint).name.removeprefix(f'{PREFIX}_')
        send(
            f'{PREFIX}/joint/{name}',
            rows.pack_joint(joint, data.qpos[slot], data.qvel[dof], data.qacc[dof]),
        )
    quat = data.qpos[3:7]
    send(
        f'{PREFIX}/base_state/root',
        rows.pack_base_state(
            rows.BaseState(
                tuple(data.qpos[:3]),
                (*quat[1:], quat[0]),
                tuple(data.qvel[:3]),
                tuple(data.qvel[3:6]),
            )
        ),
    )
    for index in range(model.nsensor):
        sensor = data.sensor(index)
        send(
            f'{PREFIX}/sensor/{sensor.name.removeprefix(PREFIX + "_")}',
            rows.pack_sensor(index, sensor.data),
        )
    if 'effort_row' in server.extensions:
        send(f'{PREFIX}/effort', data.qfrc_actuator[dofs].astype('<f4').tobytes())
    send('scene/box/xpos', data.body('box').xpos.tobytes())
    send('scene/box/xquat', data.body('box').xquat.tobytes())
