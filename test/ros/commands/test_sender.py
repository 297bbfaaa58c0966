# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from urlab_ros_bridge.ros.commands.sender import CommandSender


def test_the_newest_of_each_key_wins_and_keys_do_not_replace_each_other():
    done, sender = [], CommandSender(lambda key, error: None)
    for number in range(100):
        sender.put('a', lambda number=number: done.append(('a', number)))
        sender.put('b', lambda number=number: done.append(('b', number)))
    sender.start()
    sender.stop()
    assert sorted(done) == [('a', 99), ('b', 99)]


def test_an_action_that_waited_too_long_for_the_server_is_dropped():
    now, errors, done = [0.0], [], []
    sender = CommandSender(lambda key, error: errors.append(key), lambda: now[0])
    sender.put('moves', lambda: done.append('moves'), 0.5)
    sender.put('stops', lambda: done.append('stops'))
    sender.put('fresh', lambda: done.append('fresh'), 20.0)
    now[0] = 5.0
    sender.start()
    sender.stop()
    assert done == ['stops', 'fresh']
    assert errors == ['moves']


def test_nothing_is_sent_while_it_is_held_except_after_an_early_release():
    done, sender = [], CommandSender(lambda key, error: None)
    sender.start()
    with sender.held():
        sender.put('a', lambda: done.append('a'))
        assert not sender.flush(0.05) and not done
    assert sender.flush(10.0) and done == ['a']
    with sender.held():
        sender.put('e_stop', lambda: done.append('e_stop'))
        sender.release()
        assert sender.flush(10.0)
    sender.stop()
    assert done == ['a', 'e_stop']


def test_an_action_that_raises_anything_is_reported_and_the_next_one_is_sent():
    errors, done, sender = [], [], CommandSender(lambda key, error: errors.append((key, error)))
    sender.put('broken', lambda: [][1])
    sender.put('e_stop', lambda: done.append('e_stop'))
    sender.start()
    assert sender.flush(10.0)
    sender.put('later', lambda: done.append('later'))
    sender.stop()
    assert done == ['e_stop', 'later']
    ((key, error),) = errors
    assert key == 'broken' and isinstance(error, IndexError)
