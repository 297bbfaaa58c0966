# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the state stream."""

import msgpack
from mutant import mutant
from proxy import Fault


@mutant('rows.base_state')
def base_state_wxyz():
    def row(topic, payload):
        if b'/base_state/' in topic:
            payload = payload[:12] + payload[24:28] + payload[12:24] + payload[28:]
        return [(topic, payload)]

    return Fault(row=row)


@mutant('rows.joint')
def joint_ids_from_one():
    def row(topic, payload):
        if b'/joint/' in topic:
            payload = bytes([payload[0] + 1]) + payload[1:]
        return [(topic, payload)]

    return Fault(row=row)


@mutant('rows.sensor')
def sensor_rows_without_dim():
    def row(topic, payload):
        return [(topic, payload[:4] + payload[8:] if b'/sensor/' in topic else payload)]

    return Fault(row=row)


@mutant('rows.topics', 'rows')
def topics_end_with_a_blank():
    def row(topic, payload):
        return [(topic + b' ' if topic.count(b'/') == 2 else topic, payload)]

    return Fault(row=row)


@mutant('rows.stop', 'rows')
def rows_in_direct_mode():
    kept = {}

    def row(topic, payload):
        if b'/joint/' in topic:
            kept[topic] = payload
        again = list(kept.items()) if topic == b'state/full' else []
        return [*again, (topic, payload)]

    return Fault(row=row)


@mutant('rows.two_parts', 'rows')
def one_part_messages():
    return Fault(row=lambda topic, payload: [(topic + b' ' + payload,)])


@mutant('rows.order', 'rows')
def snapshot_in_the_middle():
    held = []

    def row(topic, payload):
        if topic == b'state/full':
            held[:] = [(topic, payload)]
            return []
        if topic.startswith(b'cart/twist') and held:
            return [(topic, payload), held.pop()]
        return [(topic, payload)]

    return Fault(row=row)


@mutant('rows.snapshot', 'rows.every_tick')
def snapshots_are_step_replies():
    def row(topic, payload):
        if topic == b'state/full':
            payload = msgpack.packb({**msgpack.unpackb(payload), 'op': 'step_ok'})
        return [(topic, payload)]

    return Fault(row=row)
