# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A command that has waited is judged when it is carried out, not when it came."""

import threading

import numpy as np
import pytest

from urlab_ros_bridge.wire.encoding import codec

WRENCH = [500.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def drive(rig):
    """Return a command that drives the rover, chosen for its present state."""
    twist = {'linear': [0.8, 0.0, 0.0], 'resets': rig.engine.clock.resets}
    return {'rover': {'twist': twist, 'xfrc_applied': {'base_link': WRENCH}}}


class Waiting:
    """A step request that waits for the end of a pause, in a thread of its own."""

    def __init__(self, caller, engine, **fields):
        self._worker = threading.Thread(target=self._ask, args=(caller, fields))
        self._worker.start()
        while not engine.lock.changed._waiters:
            self._worker.join(0.001)

    def _ask(self, caller, fields):
        self.reply = caller.reply('step', **fields)

    def result(self):
        self._worker.join(60.0)
        return self.reply


def e_stop(rover, other):
    other.ask('e_stop', engaged=True)


def e_stop_and_release(rover, other):
    other.ask('e_stop', engaged=True)
    other.ask('e_stop', engaged=False)


def reset(rover, other):
    other.ask('reset', keep_time=True)


def claim(rover, other):
    other.ask('claim_control', articulation='rover')


@pytest.mark.parametrize('first', [True, False], ids=['after_another', 'alone'])
@pytest.mark.parametrize(
    ('event', 'answer'),
    [
        (e_stop, 'e_stop'),
        (e_stop_and_release, 'e_stop'),
        (reset, 'stale_command'),
        (claim, 'not_control_owner'),
    ],
)
def test_what_comes_while_a_step_waits_holds_for_it(rover, event, answer, first):
    engine, other = rover.engine, rover.caller(shared=True)
    rover.ask('set_paused', paused=True)
    waiting = Waiting(rover, engine, n_steps=5, per_articulation=drive(rover))
    event(rover, other)
    with engine.lock:
        engine.run.set_paused(False)
        if first:  # the step of somebody else, which had waited longer
            engine.advance(1, (), engine.run.step_deadline())
    reply = waiting.result()
    assert reply.get('code', 'e_stop' if reply.get('e_stop') else '') == answer
    start = rover.data.qpos[:2].copy()
    other.ask('step', n_steps=1000)
    assert np.linalg.norm(rover.data.qpos[:2] - start) < 0.01


def test_a_command_in_the_queue_is_older_than_an_e_stop_that_comes_then(rover):
    command = {'articulation': 'rover', 'linear': [0.5, 0.0, 0.0]}
    request = codec.pack({'op': 'set_twist', 'session_id': rover.session_id, **command})
    call = rover.dispatcher.accept(request)
    e_stop_and_release(rover, rover)
    assert codec.unpack(call.run())['code'] == 'e_stop_engaged'
    rover.ask('set_twist', **command)
