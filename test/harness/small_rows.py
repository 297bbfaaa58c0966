# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the small world."""

from small_model import PREFIX

from urlab_ros_bridge.wire import rows


def send_rows(server):
    """Publish the present state as rows."""
    data, model, send = server.data, server.model, server._send
    for joint in (1, 2):
        name = model.joint(joint).name.removeprefix(f'{PREFIX}_')
        send(
            f'{PREFIX}/joint/{name}',
            rows.pack_joint(
                joint, data.qpos[6 + joint], data.qvel[5 + joint], data.qacc[5 + joint]
            ),
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
        send(f'{PREFIX}/effort', data.qfrc_actuator[6:8].astype('<f4').tobytes())
    send('scene/box/xpos', data.body('box').xpos.tobytes())
    send('scene/box/xquat', data.body('box').xquat.tobytes())
