# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of step, reset and forward."""

from mutant import blocks
from mutant import commands
from mutant import mutant
from mutant import on_reply
from mutant import on_request
from mutant import other_code
from proxy import Fault


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
