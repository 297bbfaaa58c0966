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


def other_model(request, reply):
    if 'mjcf_compiled' in reply:
        body = '<worldbody><body name="extra"><geom size="1"/></body>'
        reply['mjcf_compiled'] = reply['mjcf_compiled'].replace('<worldbody>', body, 1)


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


def keeps_wrenches():
    kept = {}

    def change(message):
        for prefix, block in (message.get('per_articulation') or {}).items():
            if 'xfrc_applied' in block:
                kept[prefix] = block['xfrc_applied']
        for prefix, wrench in kept.items():
            part = message.setdefault('per_articulation', {}).setdefault(prefix, {})
            part['xfrc_applied'] = wrench

    return on_request('step', change)


def level_sticks():
    level = []

    def change(message):
        level[:] = [message.get('observations') or (level or [None])[0]]
        message['observations'] = level[0]

    return on_request('step', change)


def swaps_twists(block):
    if 'twist' in block:
        block['twist']['linear'][0], block['twist']['angular'][2] = (
            block['twist']['angular'][2],
            block['twist']['linear'][0],
        )


OF_REQUESTS = (
    ('encoding.msgpack_default', always_json),
    ('error.shape', tells_the_op),
    ('error.unknown_op', lambda: other_code('unknown_op', 'bad_request')),
    ('session.required', any_session),
    ('session.expired_is_inert', expired_but_done),
    ('hello.urlab_version', lambda: with_values('hello', urlab_version='1.0')),
    ('hello.articulations', lambda: of_articulations(lambda block: block.pop('actor_id'))),
    ('assets.reload', lambda: on_reply('hello', other_model)),
    ('meta.entries', lambda: on_reply('meta', lambda _, r: r['ops'][0].pop('namespace'))),
    ('observe.lengths', lambda: on_states(lambda block: block.update(qpos=block['qpos'][:-1]))),
    ('observe.bodies', lambda: on_states(quaternions_xyzw)),
    ('observe.per_request', level_sticks),
    ('stamp.rounded', truncates_nanoseconds),
    ('step.direct.n_steps', lambda: on_request('step', lambda m: m.pop('n_steps', None))),
    ('step.direct.deterministic', noisy),
    ('step.direct.xfrc_cleared', keeps_wrenches),
    ('step.puppet.writes', lambda: on_request('step', lambda m: m.pop('qvel', None))),
    ('step.while_live', lambda: on_request('step', lambda m: m.pop('while_live', None))),
    ('step.divergence', lambda: on_reply('step', lambda _, r: r.pop('divergence', None))),
    ('reset.default', lambda: on_reply('reset', lambda _, r: [
        shifted('qpos')(block) for block in blocks(r)])),
    ('forward.time', lambda: on_reply('forward', lambda _, r: r.update(time=r['time'] + 0.002))),
    ('keyframes.fields', lambda: on_reply('list_keyframes', lambda _, r: [
        entry.update(qvel=entry['qvel'][:-1]) for entry in r['keyframes']])),
    ('set_mode.keeps_state', set_mode_rewinds),
    ('set_paused.reply', lambda: on_reply('set_paused', lambda _, r: r.update(
        paused=not r['paused']))),
    ('set_sim_speed.reply', lambda: with_values('set_sim_speed', percent=100.0)),
    ('set_control_source.bad_value', lambda: accepts('bad_value')),
    ('e_stop', lambda: accepts('e_stop_engaged')),
    ('set_twist.observed', lambda: on_states(swaps_twists)),
    ('set_navigation_target', lambda: with_values('status', navigation_targets=[])),
    ('configure_controller.schema', lambda: accepts('controller_schema_violation')),
    ('set_qpos.by_actor_name', lambda: forgets('set_qpos', 'target_by')),
    ('mocap.moves_body', lambda: does_nothing('set_mocap_pose')),
    ('contacts.filter', lambda: on_request('get_contacts', lambda m: m.pop('filter', None))),
    ('options.timestep_acts', lambda: option_is_only_said('timestep')),
    ('recording.window', lambda: forgets('recording_start', 'max_duration_s', 'max_duration_s')),
    ('replay.plays', replay_skips_frames),
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
