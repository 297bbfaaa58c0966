# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Servers that are wrong in one way each, with the check that must notice.

A mutant is made anew for every test, because some remember what they have seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
import json
import math

import msgpack
from proxy import Fault
from proxy import unpack


@dataclass(frozen=True)
class Mutant:
    """
    :ivar caught_by: the check that must fail.
    :ivar related: patterns of checks that may fail too, because they lean on the same rule.
    """

    name: str
    caught_by: str
    make: Callable[[], Fault]
    related: tuple[str, ...] = ()


MUTANTS: list[Mutant] = []


def mutant(caught_by, *related):
    """Add a function that makes a `Fault`."""

    def add(make):
        MUTANTS.append(Mutant(make.__name__, caught_by, make, related))
        return make

    return add


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


def other_code(code, instead):
    def reply(request, answer):
        return {**answer, 'code': instead} if answer.get('code') == code else answer

    return Fault(reply=reply)


def on_request(op, change):
    def request(message):
        if message.get('op') == op:
            change(message)
        return message

    return Fault(request=request)


def commands(message):
    return (message.get('per_articulation') or {}).values()


# Encoding and sessions.


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


# Handshake.


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


# Observations and stamps.


@mutant(
    'observe.lengths', 'observe', 'step', 'reset', 'forward', 'set_qpos', 'replay',
    'configure_controller',
)  # fmt: skip
def qpos_truncated():
    def change(block):
        block['qpos'] = block['qpos'][:-1]

    return on_states(change)


@mutant('observe.bodies')
def body_quaternions_xyzw():
    def change(block):
        for body in (block.get('bodies') or {}).values():
            body['xquat'] = body['xquat'][1:] + body['xquat'][:1]

    return on_states(change)


@mutant('observe.entity_poses')
def entity_quaternions_xyzw():
    def change(request, reply):
        for block in reply['entities'].values():
            block['xquat'] = block['xquat'][1:] + block['xquat'][:1]

    return on_reply('step', change)


@mutant('observe.full', 'observe.lengths')
def full_without_forces():
    return on_states(lambda block: block.pop('actuator_force', None))


@mutant('observe.minimal', 'observe.twist')
def minimal_is_standard():
    def change(message):
        if message.get('observations') == 'minimal':
            message['observations'] = 'standard'

    return on_request('step', change)


@mutant('observe.per_request', 'observe', 'reset', 'session', 'step', 'encoding.json_numbers')
def level_of_a_step_sticks():
    level = []

    def request(message):
        if message.get('op') == 'hello':
            level.clear()
        if message.get('op') in ('step', 'forward'):
            if message.get('observations'):
                level[:] = [message['observations']]
            elif level:
                message['observations'] = level[0]
        return message

    return Fault(request)


@mutant('stamp.rounded')
def nsec_truncated():
    def change(request, reply):
        seconds = math.floor(reply['time'])
        fraction = reply['time'] - seconds
        reply['sim_time'] = {'sec': seconds, 'nsec': int(fraction * 1e9)}

    return on_reply('step', change)


@mutant('stamp.nanoseconds', 'stamp')
def sim_time_in_microseconds():
    def change(request, reply):
        reply['sim_time']['nsec'] -= reply['sim_time']['nsec'] % 1000

    return on_reply('step', change)


@mutant('stamp.wall_time', 'stamp.wall_time_moves')
def wall_time_since_start():
    return on_reply('step', lambda _, reply: reply.update(wall_time=reply['sim_time']))


@mutant('stamp.blocks', 'stamp')
def nsec_beyond_a_second():
    def change(request, reply):
        block = reply['wall_time']
        reply['wall_time'] = {'sec': block['sec'] - 1, 'nsec': block['nsec'] + 10**9}

    return on_reply('step', change)


# Stepping.


@mutant(
    'step.direct.n_steps', 'step.direct', 'stamp', 'session', 'reset', 'recording', 'replay',
    'options', 'set_twist', 'forward', 'contacts', 'set_mode',
)  # fmt: skip
def n_steps_ignored():
    return on_request('step', lambda message: message.pop('n_steps', None))


@mutant('step.direct.xfrc_cleared', 'step.direct')
def xfrc_not_cleared():
    kept = {}

    def request(message):
        if message.get('op') in ('reset', 'hello'):
            kept.clear()
        if message.get('op') == 'step':
            for prefix, block in (message.get('per_articulation') or {}).items():
                if 'xfrc_applied' in block:
                    kept[prefix] = block['xfrc_applied']
            for prefix, wrench in kept.items():
                part = message.setdefault('per_articulation', {}).setdefault(prefix, {})
                part['xfrc_applied'] = wrench
        return message

    return Fault(request)


@mutant('step.direct.xfrc', 'step.direct.xfrc_cleared')
def xfrc_ignored():
    def change(message):
        for block in commands(message):
            block.pop('xfrc_applied', None)

    return on_request('step', change)


@mutant('step.direct.ctrl', 'step', 'configure_controller')
def ctrl_backwards():
    def change(message):
        for block in commands(message):
            if block.get('ctrl'):
                block['ctrl'] = block['ctrl'][::-1]

    return on_request('step', change)


@mutant('step.direct.ctrl_map')
def ctrl_map_ignored():
    def change(message):
        for block in commands(message):
            block.pop('ctrl_map', None)

    return on_request('step', change)


@mutant('step.direct.raw', 'step.direct')
def raw_ignored():
    def change(message):
        for block in commands(message):
            block.pop('control_mode', None)

    return on_request('step', change)


@mutant('step.direct.inner_loop', 'step.direct', 'configure_controller.acts')
def controller_once_a_window():
    def change(request, reply):
        for block in blocks(reply):
            if (request.get('n_steps') or 1) > 1 and len(block.get('ctrl') or []):
                block['ctrl'] = [value * 1.01 + 0.001 for value in block['ctrl']]

    return on_reply('step', change)


@mutant('step.puppet.no_integration', 'step.puppet')
def puppet_integrates():
    def change(request, reply):
        if 'qpos' in request:
            reply['time'] += 0.002 * ((request.get('n_steps') or 1) - 1)

    return on_reply('step', change)


@mutant('step.puppet.ctrl')
def puppet_drops_ctrl():
    return on_request('step', lambda message: message.pop('ctrl', None))


@mutant('step.puppet.counts')
def puppet_counts_n_steps():
    def change(request, reply):
        if 'qpos' in request:
            reply['step'] += (request.get('n_steps') or 1) - 1

    return on_reply('step', change)


# reset and forward.


@mutant('reset.keyframe', 'reset')
def keyframe_ignored():
    def change(message):
        if message.get('keyframe_name') not in (None, 'no_such_keyframe'):
            message.pop('keyframe_name')

    return on_request('reset', change)


@mutant('reset.unknown_keyframe')
def wrong_code_of_a_keyframe():
    return other_code('unknown_keyframe', 'unknown_body')


@mutant('reset.shape')
def reset_without_entities():
    return on_reply('reset', lambda _, reply: reply.pop('entities'))


@mutant('reset.per_articulation_qpos', 'reset.forward')
def overrides_ignored():
    return on_request('reset', lambda message: message.pop('per_articulation_qpos', None))


@mutant('keyframes.fields', 'keyframes.values', 'reset.keyframe')
def keyframe_velocities_cut():
    def change(request, reply):
        for entry in reply['keyframes']:
            entry['qvel'] = entry['qvel'][:-1]

    return on_reply('list_keyframes', change)


# Mutators.


@mutant('set_mode.reply', 'set_mode', 'session')
def previous_mode_is_the_new_one():
    def change(request, reply):
        reply['previous_mode'] = reply['current_mode']

    return on_reply('set_mode', change)


@mutant('set_paused.reply')
def paused_inverted():
    return on_reply('set_paused', lambda _, reply: reply.update(paused=not reply['paused']))


@mutant('set_sim_speed.clamps')
def speed_echoes_the_request():
    def change(request, reply):
        reply['percent'] = float(request['percent'])

    return on_reply('set_sim_speed', change)


@mutant('set_control_source.reply')
def scope_always_global():
    return on_reply('set_control_source', lambda _, reply: reply.update(scope='global'))


@mutant('set_control_source.switches')
def ui_source_is_ignored():
    asked = []

    def request(message):
        if message.get('op') == 'set_control_source' and message.get('source') == 'ui':
            asked.append(1)
            message['source'] = 'zmq'
        return message

    def reply(request, answer):
        if answer.get('op') == 'set_control_source_ok' and asked:
            asked.clear()
            answer['source'] = 'ui'
        return answer

    return Fault(request, reply)


@mutant('set_twist.observed')
def twist_and_yaw_swapped():
    def change(block):
        if 'twist' in block:
            block['twist']['linear'][0], block['twist']['angular'][2] = (
                block['twist']['angular'][2], block['twist']['linear'][0],
            )  # fmt: skip

    return on_states(change)


@mutant('configure_controller.partial', 'configure_controller', 'step.direct')
def reply_has_the_patch_only():
    def change(request, reply):
        if request['params']:
            reply['params'] = request['params']

    return on_reply('configure_controller', change)


@mutant('set_qpos.free_base')
def shortcut_not_reported():
    return on_reply('set_qpos', lambda _, reply: reply.update(free_base_shortcut=False))


@mutant('set_qpos.dim_mismatch')
def wrong_code_of_a_length():
    return other_code('dim_mismatch', 'bad_value')


@mutant('mocap.round_trip', 'mocap')
def mocap_quaternions_xyzw():
    def change(request, reply):
        reply['quat'] = reply['quat'][1:] + reply['quat'][:1]

    return on_reply('read_mocap_pose', change)


@mutant('mocap.not_mocap_body')
def ordinary_bodies_are_unknown():
    return other_code('not_mocap_body', 'unknown_body')


@mutant('contacts.cap')
def never_truncated():
    return on_reply('get_contacts', lambda _, reply: reply.update(truncated=False))


@mutant('contacts.filter')
def filter_ignored():
    return on_request('get_contacts', lambda message: message.pop('filter', None))


@mutant('contacts.values')
def normals_point_the_other_way():
    def change(request, reply):
        for contact in reply['contacts']:
            contact['normal'] = [-value for value in contact['normal']]

    return on_reply('get_contacts', change)


@mutant('options.gravity', 'options')
def gravity_is_not_echoed():
    def change(request, reply):
        reply['options']['gravity'] = [0.0, 0.0, -9.81]

    return on_reply('set_sim_options', change)


@mutant('options.bad_value')
def unknown_words_are_skipped():
    def change(message):
        options = message.get('options')
        if options:
            message['options'] = {k: v for k, v in options.items() if v != 'no_such_word'}

    return on_request('set_sim_options', change)


@mutant('recording.start', 'recording.name', 'replay.list')
def recording_has_another_name():
    def change(request, reply):
        reply['name'] = 'Live Recording'

    fault = on_reply('recording_start', change)
    return fault


@mutant('recording.stop', 'recording', 'replay')
def one_frame_too_many():
    def change(request, reply):
        reply['frame_count'] += 1

    return on_reply('recording_stop', change)


@mutant('replay.session_not_found')
def wrong_code_of_a_session():
    return other_code('replay_session_not_found', 'path_not_readable')


@mutant('camera.sync', 'camera')
def every_camera_is_colour():
    def change(request, reply):
        for block in (reply.get('cameras') or {}).values():
            block['dtype'] = 'bgra8'

    return on_reply('step', change)


# Rows.


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
