# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What comes before what when simulation time jumps back."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.link import stream as module

pytestmark = pytest.mark.ros


class Recorded:
    """A bridge stream without sockets, that writes down what it does."""

    def __init__(self, monkeypatch, settle):
        self.events = events = []
        clocks = SimpleNamespace(
            sleep=lambda seconds: events.append(('silence', seconds)),
            monotonic=lambda: 0.0,
            monotonic_ns=lambda: 0,
            time_ns=lambda: 0,
        )
        monkeypatch.setattr(module, 'time', clocks)
        monkeypatch.setattr(
            module, 'StateStream', lambda *_, **__: SimpleNamespace(close=lambda: None)
        )

        def tick(stamp_ns, now_ns, always):
            events.append(('clock', stamp_ns))
            return True

        clock = SimpleNamespace(tick=tick, rest=lambda: None, count=0)
        world = SimpleNamespace(
            clear=lambda: None,
            publish=lambda tick, stamp_ns, every: events.append(('data', stamp_ns)) or 1,
        )
        settings = SimpleNamespace(
            jump_settle_time=settle, host='', state_port=0, stream='auto', keys='', rpc_port=0
        )
        self.stream = module.StreamThread(settings, clock, Timeline())
        self.stream.world = world

    def take(self, stamp_ns):
        self.events.clear()
        self.stream._publish(SimpleNamespace(rows={}, wall_ns=None), stamp_ns)
        return self.events.copy()


def test_a_jump_back_is_told_between_two_silences(monkeypatch):
    recorded = Recorded(monkeypatch, 0.05)
    assert recorded.take(5) == [('clock', 5), ('data', 5)]
    assert recorded.take(7) == [('clock', 7), ('data', 7)]
    silence = ('silence', 0.05)
    assert recorded.take(1) == [silence, ('clock', 1), silence, ('data', 1)]
    assert recorded.take(2) == [('clock', 2), ('data', 2)]
