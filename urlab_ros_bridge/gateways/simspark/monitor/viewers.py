# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The monitors: what each has seen, and what each is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import time
from typing import Protocol

from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.game_messages import environment
from urlab_ros_bridge.gateways.simspark.monitor.game_messages import game_state
from urlab_ros_bridge.gateways.simspark.monitor.game_messages import GameReport
from urlab_ros_bridge.gateways.simspark.monitor.game_messages import report
from urlab_ros_bridge.gateways.simspark.monitor.layout import scene_nodes
from urlab_ros_bridge.gateways.simspark.monitor.layout import selection_key
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SceneGraph
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SeenGraph
from urlab_ros_bridge.gateways.simspark.world.roles import Stage

# From one message to the next: simulated seconds, or real ones while time stands still.
PERIOD = 0.04
LOG_PERIOD = 0.2
# RoboViz ignores the field of a full message that comes while it starts: it gets more (s).
_REPEATS = (1.0, 4.0)

FULL = b'(RSG 0 1)'
DIFF = b'(RDS 0 1)'


class Receiver(Protocol):
    """Takes messages: a connection, or a log."""

    @property
    def is_clear(self) -> bool:
        """Return whether a message would be taken now."""

    def send(self, payload: bytes) -> bool:
        """Take a message, or drop it; return whether it was taken."""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What a viewer knows; those who know the same share it, and get the same bytes."""

    graph: SceneGraph
    nodes: SeenGraph
    game: GameReport


@dataclass(slots=True, eq=False)
class _Viewer:
    """
    One receiver.

    :ivar seen: None: it needs everything.
    :ivar introduced: whether it has had the second full message, or needs none.
    :ivar repeats: when it gets everything again, by `time.monotonic`.
    """

    receiver: Receiver
    period: float
    seen: _Seen | None = None
    introduced: bool = False
    repeats: list[float] = field(default_factory=list)
    frame: int | None = None
    sent_at: float = 0.0


class Viewers:
    """
    Sends every viewer what it has not seen.

    A message that a viewer does not take changes nothing of what it knows, so the next one that
    it takes has all that it missed.  Not thread-safe.
    """

    def __init__(self, game: GameState, clock: Callable[[], float] = time.monotonic) -> None:
        self._game = game
        self._clock = clock
        self._viewers: dict[Receiver, _Viewer] = {}
        self._stage: Stage | None = None
        self._graph: SceneGraph | None = None
        self._roster_version = self._scene_version = -1
        self._rules: Rules | None = None
        self._environment = b''

    def __len__(self) -> int:
        return len(self._viewers)

    def begin(self, stage: Stage) -> None:
        """Show another world; everybody gets it in full."""
        self._stage = stage
        self._graph = None

    def join(self, receiver: Receiver, period: float = PERIOD) -> None:
        """Add a viewer, which gets everything at once, when there is a world."""
        now = self._clock()
        live = period == PERIOD
        repeats = [now + seconds for seconds in _REPEATS] if live else []
        viewer = _Viewer(receiver, period, introduced=not live, repeats=repeats)
        self._viewers[receiver] = viewer
        if self._stage is not None and self._graph is not None:
            self._refresh(self._stage)
            self._send(viewer, {})

    def leave(self, receiver: Receiver) -> None:
        """Forget a viewer; one that is not there is not missed."""
        self._viewers.pop(receiver, None)

    def request_full_state(self) -> None:
        """Let the next message to everybody be a full one, with the environment."""
        for viewer in self._viewers.values():
            viewer.seen = None

    def cycle(self) -> None:
        """Send what is due; called in every cycle, and while time stands still."""
        stage = self._stage
        if stage is None:
            return
        if self._graph is None or self._game.roster.version != self._roster_version:
            self._graph = SceneGraph(scene_nodes(stage.scene, self._game.roster))
            self._roster_version, self._scene_version = self._game.roster.version, -1
            self.request_full_state()
        now, sim = self._clock(), stage.scene.time
        due = [viewer for viewer in self._viewers.values() if _is_due(viewer, sim, now)]
        if not due:
            return
        self._refresh(stage)
        written: dict[_Seen | None, tuple[bytes, _Seen]] = {}
        for viewer in due:
            viewer.frame, viewer.sent_at = _frame(viewer, sim), now
            if viewer.repeats and now >= viewer.repeats[0]:
                del viewer.repeats[0]
                viewer.seen = None
            self._send(viewer, written)

    def _refresh(self, stage: Stage) -> None:
        """Take the poses of a scene over, once."""
        if self._graph is not None and stage.scene.version != self._scene_version:
            self._scene_version = stage.scene.version
            self._graph.update(stage.scene.positions, stage.scene.rotations)

    def _send(self, viewer: _Viewer, written: dict[_Seen | None, tuple[bytes, _Seen]]) -> None:
        if not viewer.receiver.is_clear:
            return  # nothing is written for one that does not read
        if viewer.seen not in written:
            written[viewer.seen] = self._write(viewer.seen)
        payload, seen = written[viewer.seen]
        if not viewer.receiver.send(payload):
            return
        first, viewer.seen, viewer.introduced = not viewer.introduced, seen, True
        if first:
            # The page has two full messages: after the environment, and after the game state.
            viewer.receiver.send(b'(%b)%b(%b)' % (game_state(seen.game), FULL, self._nodes()))

    def _write(self, seen: _Seen | None) -> tuple[bytes, _Seen]:
        """Return the message for those who know so much, and what they know then."""
        assert self._graph is not None
        now, marks = report(self._game), self._marks()
        if seen is None or seen.graph is not self._graph:
            nodes, known = self._graph.full(marks)
            head, kind = self._environment_now() + game_state(now), FULL
        else:
            nodes, known = self._graph.changes(seen.nodes, marks)
            head, kind = game_state(now, seen.game), DIFF
        return b'(%b)%b(%b)' % (head, kind, nodes), _Seen(self._graph, known, now)

    def _nodes(self) -> bytes:
        assert self._graph is not None
        return self._graph.full(self._marks())[0]

    def _marks(self) -> frozenset[str]:
        selected = self._game.selected
        return frozenset() if selected is None else frozenset({selection_key(selected)})

    def _environment_now(self) -> bytes:
        if self._rules is not self._game.rules:
            self._rules, self._environment = self._game.rules, environment(self._game.rules)
        return self._environment


def _frame(viewer: _Viewer, sim: float) -> int:
    """Return the number of the message that a moment belongs to; live time is not exact."""
    return int(sim / viewer.period + 0.25)


def _is_due(viewer: _Viewer, sim: float, now: float) -> bool:
    if viewer.seen is None or viewer.frame is None:
        return True
    return _frame(viewer, sim) != viewer.frame or now - viewer.sent_at >= 2 * viewer.period


__all__ = ['LOG_PERIOD', 'PERIOD', 'Receiver', 'Viewers']
