# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import threading
import time

from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.sender import CommandSender
from urlab_ros_bridge.ros.commands.sender import TwistRider


def test_the_newest_of_each_key_wins_and_keys_do_not_replace_each_other():
    done, gate = [], threading.Event()
    sender = CommandSender(lambda key, error: None)
    sender.put('slow', lambda: gate.wait(5))
    sender.start()
    time.sleep(0.05)
    for number in range(100):
        sender.put('a', lambda number=number: done.append(('a', number)))
        sender.put('b', lambda number=number: done.append(('b', number)))
    gate.set()
    sender.stop()
    assert sorted(done) == [('a', 99), ('b', 99)]
    assert sender.replaced == 198 and sender.sent == 3


def test_an_error_is_told_and_the_next_action_runs():
    errors, done = [], []
    sender = CommandSender(lambda key, error: errors.append((key, str(error))))

    def fail():
        raise CommandRejected('no')

    sender.put('a', fail)
    sender.put('b', lambda: done.append(1))
    sender.start()
    sender.stop()
    assert errors == [('a', 'no')] and done == [1]


def test_a_flush_waits_for_the_action_under_way_and_for_those_that_wait():
    done, gate = [], threading.Event()
    sender = CommandSender(lambda key, error: None)
    assert sender.flush(0.0)
    sender.put('a', lambda: gate.wait(5) and done.append('a'))
    sender.put('b', lambda: done.append('b'))
    sender.start()
    assert not sender.flush(0.05)
    gate.set()
    assert sender.flush(10.0) and done == ['a', 'b']
    sender.stop()


def held_sender():
    """Return a sender with its thread, and what it has done: (thread, what)."""
    done = []
    sender = CommandSender(lambda key, error: done.append((key, str(error))))
    sender.start()

    def note(what):
        return lambda: done.append((threading.current_thread().name, what))

    return sender, done, note


def test_who_waits_anyway_sends_in_its_own_thread():
    sender, done, note = held_sender()
    with sender.by_caller(riding=False, timeout=5.0):
        sender.put('a', note('a'))
        sender.put('b', note('b'), rider=TwistRider('rover', {}))
        assert done == []
    here = threading.current_thread().name
    assert done == [(here, 'a'), (here, 'b')]
    sender.put('c', note('c'))
    assert sender.flush(5.0) and done[-1] == ('commands', 'c')
    sender.stop()
    assert sender.sent == 3


def test_a_twist_rides_with_the_next_step_unless_a_newer_command_comes():
    sender, done, note = held_sender()
    rider = TwistRider('rover', {'linear': [1.0, 0.0, 0.0]})
    for newer in (False, True):
        with sender.by_caller(riding=True, timeout=5.0):
            sender.put('cmd_vel', note('twist'), rider=rider)
            sender.put('joints', note('joints'))
        if newer:
            sender.put('cmd_vel', note('stop'))
            assert sender.flush(5.0)
        assert sender.take_riders() == ({} if newer else {'cmd_vel': rider})
        sender.riders_sent()
    assert [what for _, what in done] == ['joints', 'joints', 'stop']
    assert sender.take_riders() == {} and sender.sent == 4
    sender.stop()


def test_riders_that_came_to_nothing_are_sent_by_themselves_once():
    sender, done, note = held_sender()
    for key in ('one', 'two'):
        with sender.by_caller(riding=True, timeout=5.0):
            sender.put(key, note(key), rider=TwistRider(key, {}))
        sender.take_riders()
        if key == 'one':
            sender.riders_sent()
    sender.return_riders(5.0)
    sender.return_riders(5.0)
    assert [what for _, what in done] == ['two']
    # What came after it was taken is newer, also when it was sent at once.
    with sender.by_caller(riding=True, timeout=5.0):
        sender.put('three', note('go'), rider=TwistRider('three', {}))
    sender.take_riders()
    sender.put('three', note('stop'))
    assert sender.flush(5.0)
    sender.return_riders(5.0)
    assert [what for _, what in done] == ['two', 'stop']
    sender.stop()
