# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Viewers of a scene that the test moves, without sockets or servers."""

from simspark_client.scene_view import SceneView

from test.gateways.simspark.stage import FakeConnection
from urlab_ros_bridge.client.replies.observations import WorldObservation
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.viewers import PERIOD
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage


class Watcher(FakeConnection):
    """Takes messages, or not."""

    def __init__(self):
        super().__init__()
        self._view, self._viewed, self.drops = SceneView(), 0, False

    def send(self, payload):
        assert self.is_clear, 'it does not read'
        return not self.drops and super().send(payload)

    @property
    def view(self):
        for payload in self.sent[self._viewed :]:
            self._view.take(payload)
        self._viewed = len(self.sent)
        return self._view


class Stand:
    def __init__(self, handshake):
        self.game, self.clock = GameState(), 100.0
        self.scene = SimSparkScene(handshake)
        self.game.roster.enlist(self.scene.robots)
        self.viewers = Viewers(self.game, lambda: self.clock)
        self.viewers.begin(GameStage(self.game, self.scene, None))
        self.steps = 0

    def join(self, period=PERIOD):
        watcher = Watcher()
        self.viewers.join(watcher, period)
        self.viewers.cycle()
        return watcher

    def cycle(self, count=1):
        for _ in range(count):
            self.steps += 1
            self.clock += 0.02
            self.scene.update(
                WorldObservation({'time': self.steps * 0.02, 'step': self.steps * 10})
            )
            self.viewers.cycle()
