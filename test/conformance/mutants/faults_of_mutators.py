# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the ops that change something."""

from mutant import mutant
from mutant import on_reply
from mutant import on_request
from mutant import on_states
from mutant import other_code
from proxy import Fault


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


@mutant('set_twist.observed', 'set_twist')
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


@mutant('camera.by_frame_id')
def images_of_an_earlier_state():
    def change(request, reply):
        for block in (reply.get('cameras') or {}).values():
            block['frame_id'] = 0

    return on_reply('step', change)
