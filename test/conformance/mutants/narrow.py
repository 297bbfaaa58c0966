# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Makers of small faults, see `faults_narrow`."""

import json

from mutant import blocks
from mutant import on_reply
from mutant import on_request
from mutant import on_states
from proxy import Fault
from proxy import unpack


def accepts(code):
    """Answer ok where a request is to be refused."""

    def reply(request, answer):
        return {'op': f'{request.get("op")}_ok'} if answer.get('code') == code else answer

    return Fault(reply=reply)


def without(op, *path):
    """Leave a field of a reply out."""

    def change(request, reply):
        for key in path[:-1]:
            reply = reply[key]
        reply.pop(path[-1])

    return on_reply(op, change)


def with_values(op, **fields):
    return on_reply(op, lambda _, reply: reply.update(fields))


def refuses(wrong):
    """Refuse the requests of which `wrong` is true."""
    error = {'op': 'error', 'code': 'bad_value', 'message': 'no'}
    return Fault(reply=lambda request, answer: error if wrong(request) else answer)


def forgets(op, field, echo=''):
    """Do as if a field of the request were not there; `echo`: the reply says otherwise."""
    asked = []

    def request(message):
        if message.get('op') == op and field in message:
            asked[:] = [message.pop(field)]
        return message

    def reply(request, answer):
        if echo and asked and answer.get('op') == f'{op}_ok':
            answer[echo] = asked[0]
        return answer

    return Fault(request, reply)


def hides_a_twist_controller():
    """Take twists for an articulation that shows none."""

    def reply(request, answer):
        for block in answer.get('articulations', ()):
            if block['prefix'] == 'arm':
                block.pop('twist_controller', None)
        for name in ('twist', 'actions'):
            (answer.get('per_articulation') or {}).get('arm', {}).pop(name, None)
        accepted = answer.get('code') == 'no_twist_controller'
        return {'op': f'{request.get("op")}_ok'} if accepted else answer

    return Fault(reply=reply)


def does_nothing(op, **fields):
    """Answer an op without doing anything."""

    def request(message):
        return {**message, 'op': 'forward', 'was': op} if message.get('op') == op else message

    def reply(request, answer):
        return {'op': f'{op}_ok', **fields} if request.get('was') == op else answer

    return Fault(request, reply)


def of_articulations(change):
    """Change every articulation of the handshake in place."""

    def of_hello(request, reply):
        for block in reply.get('articulations', ()):
            change(block)

    return on_reply('hello', of_hello)


def with_option(name, change):
    """Change an option of each request in place."""

    def of_options(message):
        if name in message['options']:
            change(message['options'])

    return on_request('set_sim_options', of_options)


def option_is_only_said(name):
    said = []

    def request(message):
        if message.get('op') == 'set_sim_options':
            said[:] = [message['options'].pop(name)] if name in message['options'] else said
        return message

    def reply(request, answer):
        if said and answer.get('op') == 'set_sim_options_ok':
            answer['options'][name] = said[0]
        return answer

    return Fault(request, reply)


def always_json():
    def frame(request, answer):
        return json.dumps(unpack(answer), default=lambda _: '').encode()

    return Fault(frame=frame)


def any_session():
    """Take a request without session for one of the latest session."""
    latest = ['']

    def request(message):
        if message.get('op') not in ('hello', 'meta', None):
            message.setdefault('session_id', latest[0])
        return message

    def reply(request, answer):
        latest[0] = answer.get('session_id', latest[0])
        return answer

    return Fault(request, reply)


def expired_but_done():
    """Say session_expired, and do it."""
    latest, stale = [''], []

    def request(message):
        stale.clear()
        if message.get('session_id') not in (None, latest[0]) and message.get('op') != 'hello':
            stale.append(message)
            message = {**message, 'session_id': latest[0]}
        return message

    def reply(request, answer):
        if stale:
            return {'op': 'error', 'code': 'session_expired', 'message': ''}
        latest[0] = answer.get('session_id', latest[0])
        return answer

    return Fault(request, reply)


def of_state(op, change):
    """Change the articulations in the replies of one op in place."""
    return on_reply(op, lambda _, reply: [change(block) for block in blocks(reply)])


def shifted(key, amount=0.25):
    def change(block):
        if block.get(key):
            block[key][0] += amount

    return change


def noisy():
    count = [0]

    def change(block):
        count[0] += 1
        block['qpos'] = [value + 1e-9 * count[0] for value in block['qpos']]

    return on_states(change)


def steps(change):
    return on_request('step', change)


def of_entities(change):
    def reply(request, answer):
        for block in (answer.get('entities') or {}).values():
            change(block)
        return answer

    return Fault(reply=reply)


def set_mode_rewinds():
    changed = []

    def reply(request, answer):
        if answer.get('op') == 'set_mode_ok':
            changed.append(1)
        elif changed and answer.get('op') == 'forward_ok':
            answer['time'] = 0.0
        return answer

    return Fault(reply=reply)


def replay_skips_frames():
    playing = []

    def request(message):
        if message.get('op') in ('replay_start', 'replay_stop'):
            playing[:] = [1] * (message['op'] == 'replay_start')
        elif message.get('op') == 'step' and playing:
            message['n_steps'] = 2
        return message

    return Fault(request)


def prefixed_sensors(block):
    if 'sensors' in block:
        block['sensors'] = {f'arm_{name}': value for name, value in block['sensors'].items()}


def other_model(request, reply):
    if 'mjcf_compiled' in reply:
        body = '<worldbody><body name="extra"><geom size="1"/></body>'
        reply['mjcf_compiled'] = reply['mjcf_compiled'].replace('<worldbody>', body, 1)


def foldered(request, reply):
    if 'vfs_assets' in reply:
        reply['vfs_assets'] = {f'a/{name}': data for name, data in reply['vfs_assets'].items()}


def first_camera(change):
    return of_articulations(lambda block: [change(c) for c in block['camera_topics'].values()])
