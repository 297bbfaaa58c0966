# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of encodings, sessions, errors and the handshake."""

import json

from mutant import mutant
from mutant import on_reply
from mutant import other_code
from proxy import Fault
from proxy import unpack


@mutant('encoding.per_session', 'encoding')
def json_leaks_into_other_sessions():
    asked = []

    def frame(request, answer):
        if request.get('op') == 'hello':
            asked[:] = [request.get('encoding') == 'json']
            return answer
        return json.dumps(unpack(answer)).encode() if asked == [True] else answer

    return Fault(frame=frame)


@mutant('encoding.reset_by_hello', 'encoding')
def json_for_ever():
    seen = []

    def frame(request, answer):
        seen.extend(['json'] * (request.get('encoding') == 'json'))
        if seen and request.get('op') != 'hello':
            return json.dumps(unpack(answer)).encode()
        return answer

    return Fault(frame=frame)


@mutant('encoding.json_base64')
def base64_misses_the_end():
    def reply(request, answer):
        if 'mjb_base64' in answer:
            answer['mjb_base64'] = answer['mjb_base64'][:-64]
        return answer

    return Fault(reply=reply)


@mutant('session.replaced', 'session', 'error.order')
def stale_session_accepted():
    latest = []

    def request(message):
        if message.get('op') not in ('hello', 'meta') and latest:
            message['session_id'] = latest[0]
        return message

    def reply(request, answer):
        if answer.get('op') == 'hello_ok' and not request.get('shared'):
            latest[:] = [answer['session_id']]
        return answer

    return Fault(request, reply)


@mutant('session.uuid')
def session_ids_count_up():
    known = {}

    def request(message):
        message['session_id'] = known.get(str(message.get('session_id')),
                                          message.get('session_id'))  # fmt: skip
        return message

    def reply(request, answer):
        if answer.get('op') == 'hello_ok':
            name = f'session-{len(known)}'
            known[name] = answer['session_id']
            answer['session_id'] = name
        return answer

    return Fault(request, reply)


@mutant('session.hello_keeps_state', 'session')
def hello_does_not_restart_the_counter():
    counted = [0]

    def change(request, answer):
        if request.get('op') == 'reset':
            counted[0] = 0
        elif request.get('op') == 'step':
            counted[0] += max(int(request.get('n_steps') or 1), 1)
        if answer.get('op') in ('forward_ok', 'step_ok') and 'qpos' not in request:
            answer['step'] = counted[0]
        return answer

    return Fault(reply=change)


@mutant('error.shape')
def errors_tell_the_op():
    def reply(request, answer):
        if answer.get('op') == 'error':
            answer['failed_op'] = request.get('op')
        return answer

    return Fault(reply=reply)


@mutant('error.unknown_op', 'encoding')
def unknown_op_is_bad_request():
    return other_code('unknown_op', 'bad_request')


@mutant('error.missing_field', 'options.missing_field', 'set_control_source', 'replay', 'error')
def missing_field_is_bad_value():
    return other_code('missing_field', 'bad_value')


@mutant('error.missing_op')
def missing_op_is_unknown_op():
    return other_code('missing_op', 'unknown_op')


@mutant('hello.mjb')
def wrong_mjb_size():
    return on_reply('hello', lambda _, reply: reply.update(mjb_size=17))


@mutant('hello.mujoco_version')
def version_number_of_yesterday():
    return on_reply('hello', lambda _, reply: reply.update(mujoco_version_int=327))


@mutant('hello.default_control_mode', 'step.direct.default_control_mode')
def default_mode_always_raw():
    def change(request, reply):
        for block in reply['articulations']:
            block['default_control_mode'] = 'raw'

    return on_reply('hello', change)


@mutant('hello.free_entities')
def entity_offset_of_the_velocity():
    def change(request, reply):
        for number, block in enumerate(reply['entities'].values()):
            if 'qpos_offset' in block:
                block['qpos_offset'] += 1 + number

    return on_reply('hello', change)


@mutant('hello.fields')
def no_global_cameras():
    return on_reply('hello', lambda _, reply: reply.pop('global_cameras', None))


@mutant('assets.opt_in')
def assets_nobody_asked_for():
    def change(request, reply):
        reply.setdefault('vfs_assets', {})

    return on_reply('hello', change)


@mutant('meta.catalogue')
def an_op_is_forgotten():
    def change(request, reply):
        reply['ops'] = [op for op in reply['ops'] if op['name'] != 'set_mocap_pose']

    return on_reply('meta', change)
