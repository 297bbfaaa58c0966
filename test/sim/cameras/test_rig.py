# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras are rendered, and what a renderer is told, without a renderer process."""

import threading
from types import SimpleNamespace

import numpy as np

from urlab_ros_bridge.sim.cameras import demand
from urlab_ros_bridge.sim.cameras.demand import Demand
from urlab_ros_bridge.sim.cameras.demand import Reason


def test_a_camera_is_rendered_until_its_last_reason_ends(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(demand, 'time', SimpleNamespace(monotonic=lambda: clock.now))
    wanted = Demand()
    wanted.put(Reason.ZMQ, [0, 1])
    wanted.put(Reason.SHM, [1])
    wanted.put(Reason.REQUEST, [2])
    clock.now = 0.9 * demand.REQUEST_SECONDS
    wanted.put(Reason.REQUEST, [3])
    assert wanted.cameras() == {0, 1, 2, 3}
    wanted.switch(Reason.ZMQ, 1, False)
    wanted.put(Reason.SHM, [])
    assert wanted.cameras() == {0, 2, 3} and wanted.of(Reason.ZMQ) == {0, 1}
    clock.now = 1.5 * demand.REQUEST_SECONDS
    assert wanted.cameras() == {0, 3}
    wanted.switch(Reason.ZMQ, 1, True)
    assert wanted.cameras() == {0, 1, 3}
    clock.now = 2.0 * demand.REQUEST_SECONDS
    wanted.put(Reason.ZMQ, [])
    wanted.drop_expired()
    assert not wanted and wanted.cameras() == set()


def test_a_reader_that_arrives_while_a_renderer_is_attached_is_reported_to_it(lab_context):
    rig, told = lab_context.cameras, []
    reader = threading.Thread(target=rig.demand, args=(Reason.SHM, [0]))

    def tell_readers(cameras):
        told.append(set(cameras))
        if len(told) == 1:
            reader.start()
            reader.join(0.3)  # it must not go on before the renderer is attached

    memory = SimpleNamespace(control=np.zeros(4, np.uint64))
    rig.attach(SimpleNamespace(memory=memory, tell_readers=tell_readers))
    reader.join()
    assert told == [set(), {0}]
