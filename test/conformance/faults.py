# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults of servers, one of each kind: (the check that must find it, a maker of the fault).

A fault is made anew for every test, because some remember what they have seen.
"""

import json

from proxy import Fault
from proxy import unpack


def blocks(reply):
    return list((reply.get('per_articulation') or {}).values())


def on_reply(op, change):
    """Return a fault that changes the successful replies of an op in place."""

    def reply(request, answer):
        if answer.get('op') == f'{op}_ok':
            change(request, answer)
        return answer

    return Fault(reply=reply)


def on_states(change):
    """Return a fault that changes every articulation's block in place."""

    def reply(request, answer):
        for block in blocks(answer):
            change(block)
        return answer

    return Fault(reply=reply)


def on_request(op, change):
    def request(message):
        if message.get('op') == op:
            change(message)
        return message

    return Fault(request=request)


def accepts(code):
    """Answer ok where a request is to be refused."""

    def reply(request, answer):
        return {'op': f'{request.get("op")}_ok'} if answer.get('code') == code else answer

    return Fault(reply=reply)


def with_values(op, **fields):
    return on_reply(op, lambda _, reply: reply.update(fields))


def does_nothing(op, **fields):
    """Answer an op without doing anything."""

    def request(message):
        return {**message, 'op': 'forward', 'was': op} if message.get('op') == op else message

    def reply(request, answer):
        return {'op': f'{op}_ok', **fields} if request.get('was') == op else answer

    return Fault(request, reply)


def always_json():
    def frame(request, answer):
        return json.dumps(unpack(answer), default=lambda _: '').encode()

    return Fault(frame=frame)


def shifted(key, amount=0.25):
    def change(block):
        if block.get(key):
            block[key][0] += amount

    return change


def tells_the_op():
    def reply(request, answer):
        return {**answer, 'failed_op': request['op']} if answer.get('op') == 'error' else answer

    return Fault(reply=reply)


def other_code(code, instead):
    def reply(request, answer):
        return {**answer, 'code': instead} if answer.get('code') == code else answer

    return Fault(reply=reply)


def truncates_nanoseconds():
    def change(request, reply):
        reply['sim_time'] = {
            'sec': int(reply['time']),
            'nsec': int((reply['time'] - int(reply['time'])) * 1e9),
        }

    return on_reply('step', change)


def quaternions_xyzw(block):
    for body in (block.get('bodies') or {}).values():
        body['xquat'] = body['xquat'][1:] + body['xquat'][:1]


OF_REQUESTS = (
    ('encoding.msgpack_default', always_json),
    ('error.shape', tells_the_op),
    ('error.unknown_op', lambda: other_code('unknown_op', 'bad_request')),
    ('meta.entries', lambda: on_reply('meta', lambda _, r: r['ops'][0].pop('namespace'))),
    ('observe.lengths', lambda: on_states(lambda block: block.update(qpos=block['qpos'][:-1]))),
    ('observe.bodies', lambda: on_states(quaternions_xyzw)),
    ('stamp.rounded', truncates_nanoseconds),
    ('step.direct.n_steps', lambda: on_request('step', lambda m: m.pop('n_steps', None))),
    ('step.puppet.writes', lambda: on_request('step', lambda m: m.pop('qvel', None))),
    ('reset.default', lambda: on_reply('reset', lambda _, r: [
        shifted('qpos')(block) for block in blocks(r)])),
    ('keyframes.fields', lambda: on_reply('list_keyframes', lambda _, r: [
        entry.update(qvel=entry['qvel'][:-1]) for entry in r['keyframes']])),
    ('set_paused.reply', lambda: on_reply('set_paused', lambda _, r: r.update(
        paused=not r['paused']))),
    ('e_stop', lambda: accepts('e_stop_engaged')),
    ('set_navigation_target', lambda: with_values('status', navigation_targets=[])),
    ('configure_controller.schema', lambda: accepts('controller_schema_violation')),
    ('mocap.moves_body', lambda: does_nothing('set_mocap_pose')),
    ('contacts.filter', lambda: on_request('get_contacts', lambda m: m.pop('filter', None))),
)  # fmt: skip


OF_IMAGES = (
    ('camera.sync', lambda: on_reply('step', lambda _, r: [
        block.update(dtype='bgra8') for block in (r.get('cameras') or {}).values()])),
)  # fmt: skip


def rows_of_every_step(topic, payload):
    """Send a row of a joint with each snapshot: in direct mode there must be none."""
    extra = [(b'arm/joint/any', bytes(16))] if topic == b'state/full' else []
    return [*extra, (topic, payload)]


OF_ROWS = (
    ('rows.two_parts', lambda: lambda topic, payload: [(topic + b' ' + payload,)]),
    ('rows.sensor', lambda: lambda topic, payload: [
        (topic, payload[:4] + payload[8:] if b'/sensor/' in topic else payload)]),
    ('rows.stop', lambda: rows_of_every_step),
)  # fmt: skip
