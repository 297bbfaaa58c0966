# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of observations and stamps."""

import math

from mutant import mutant
from mutant import on_reply
from mutant import on_request
from mutant import on_states
from proxy import Fault


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
