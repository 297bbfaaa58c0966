# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import threading
import time

from urlab_ros_bridge.ros.commands.sender import CommandSender


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


def test_a_flush_waits_for_the_running_and_the_queued_actions():
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
