# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The table of sensors in docs/bridge.md."""

from __future__ import annotations

from urlab_ros_bridge.ros.plan.sensor_table import SENSOR
from urlab_ros_bridge.ros.plan.sensor_table import SENSOR_KINDS


def sensors_markdown() -> str:
    """Return the table of docs/bridge.md: all types that have their own message."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for kind in SENSOR_KINDS.values():
        message = kind.message
        if message is not SENSOR:
            topic = message.alone or message.topic
            names = rows.setdefault((message.type_name, topic, kind.frame), [])
            names.append(f'`{kind.name}` ({kind.unit})')
    lines = ['| MuJoCo sensor (unit) | message | topic | frame |', '|---|---|---|---|']
    for (type_name, topic, frame), names in rows.items():
        lines.append(f'| {", ".join(names)} | `{type_name}` | `{topic}` | {frame} |')
    return '\n'.join(lines) + '\n'
