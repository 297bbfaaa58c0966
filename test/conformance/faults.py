# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of servers, one of each kind, by the check that must find it."""

import json

from proxy import Fault
from proxy import unpack


def on_reply(op, change):
    """Return a fault that changes the successful replies of an op in place."""

    def reply(request, answer):
        if answer.get('op') == f'{op}_ok':
            change(answer)
        return answer

    return Fault(reply=reply)


def on_request(op, **changes):
    def request(message):
        return {**message, **changes} if message.get('op') == op else message

    return Fault(request=request)


def to_json(request, answer):
    return json.dumps(unpack(answer), default=lambda _: '').encode()


def tell_the_op(request, answer):
    return {**answer, 'failed_op': request['op']} if answer.get('op') == 'error' else answer


def accept_during_e_stop(request, answer):
    ok = {'op': f'{request.get("op")}_ok'}
    return ok if answer.get('code') == 'e_stop_engaged' else answer


def quaternions_xyzw(answer):
    for block in answer['per_articulation'].values():
        for body in (block.get('bodies') or {}).values():
            body['xquat'] = body['xquat'][1:] + body['xquat'][:1]


def other_type_of_images(answer):
    for image in (answer.get('cameras') or {}).values():
        image['dtype'] = 'bgra8'


def without_dimension(topic, payload):
    return [(topic, payload[:4] + payload[8:] if b'/sensor/' in topic else payload)]


def rows_of_every_step(topic, payload):
    """Send a row of a joint with each snapshot: in direct mode there must be none."""
    extra = [(b'arm/joint/any', bytes(16))] if topic == b'state/full' else []
    return [*extra, (topic, payload)]


TELLS_THE_OP = Fault(reply=tell_the_op)
FAULTS = {
    'encoding.msgpack_default': Fault(frame=to_json),
    'error.shape': TELLS_THE_OP,
    'meta.entries': on_reply('meta', lambda reply: reply['ops'][0].pop('namespace')),
    'observe.bodies': on_reply('step', quaternions_xyzw),
    'step.direct.n_steps': on_request('step', n_steps=1),
    'e_stop': Fault(reply=accept_during_e_stop),
    'mocap.moves_body': on_request('set_mocap_pose', pos=[0.0, 0.0, 9.0]),
    'camera.sync': on_reply('step', other_type_of_images),
    'rows.sensor': Fault(row=without_dimension),
    'rows.stop': Fault(row=rows_of_every_step),
}
