# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The monitors, and the state that each has received."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import time
from typing import Protocol

from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.layout import scene_nodes
from urlab_ros_bridge.gateways.simspark.monitor.layout import selection_key
from urlab_ros_bridge.gateways.simspark.monitor.messages import environment
from urlab_ros_bridge.gateways.simspark.monitor.messages import game_state
from urlab_ros_bridge.gateways.simspark.monitor.messages import GameReport
from urlab_ros_bridge.gateways.simspark.monitor.messages import report
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SceneGraph
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SeenGraph
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage

# Seconds between messages: of simulated time; of real time while that is frozen.
PERIOD = 0.04
_STILL_PERIOD = 0.08
LOG_PERIOD = 0.2
# RoboViz ignores the field in a full message that arrives during its start: repeat it after (s).
_REPEATS = (1.0, 4.0)
# A log repeats it every so many lines.
_LOG_REPEATS = 100

FULL = b'(RSG 0 1)'
DIFF = b'(RDS 0 1)'


class Receiver(Protocol):
    """Receives messages: a connection, or a log."""

    @property
    def is_clear(self) -> bool:
        """Return whether a message would be accepted now."""

    def send(self, payload: bytes) -> bool:
        """Accept or drop a message; return whether it was accepted."""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What viewers have received; those with the same state share it."""

    graph: SceneGraph
    nodes: SeenGraph
    game: GameReport


@dataclass(slots=True, eq=False)
class _Viewer:
    """
    One receiver.

    :ivar is_live: whether it shows the scene now; a log is read later.
    :ivar seen: None: it needs a full message.
    :ivar got_second_full: whether it has received the second full message, or needs none.
    :ivar repeats: times of further full messages, by `time.monotonic`.
    :ivar due: number of messages that were due to it.
    """

    receiver: Receiver
    period: float
    is_live: bool
    seen: _Seen | None = None
    got_second_full: bool = False
    repeats: list[float] = field(default_factory=list)
    due: int = 0
    frame: int | None = None
    sim: float = 0.0
    sent_at: float = 0.0


class Viewers:
    """
    Sends every viewer what has changed since its last message.

    Every message leads its viewer to one common state, so that all that are up to date get the
    same bytes, and one that missed messages is up to date after the next one.  Not thread-safe.
    """

    def __init__(
        self,
        game: GameState,
        clock: Callable[[], float] = time.monotonic,
        *,
        nao_meshes: bool = True,
    ) -> None:
        self._game = game
        self._nao_meshes = nao_meshes
        self._clock = clock
        self._viewers: dict[Receiver, _Viewer] = {}
        self._stage: GameStage | None = None
        self._graph: SceneGraph | None = None
        self._known: _Seen | None = None
        self._second: tuple[_Seen, bytes] | None = None
        self._roster_version = self._scene_version = -1
        self._rules: Rules | None = None
        self._environment = b''

    def begin(self, stage: GameStage) -> None:
        """Show another world, in full."""
        self._stage = stage
        self._graph = None

    def join(self, receiver: Receiver, period: float = PERIOD) -> None:
        """Add a viewer; the next cycle sends it a full message."""
        now = self._clock()
        is_live = period == PERIOD
        repeats = [now + seconds for seconds in _REPEATS] if is_live else []
        viewer = _Viewer(receiver, period, is_live, got_second_full=not is_live, repeats=repeats)
        self._viewers[receiver] = viewer

    def leave(self, receiver: Receiver) -> None:
        """Remove a viewer, if it is one."""
        self._viewers.pop(receiver, None)

    def request_full_state(self) -> None:
        """Make the next message to every viewer a full one, with the environment."""
        for viewer in self._viewers.values():
            viewer.seen = None

    def cycle(self) -> None:
        """Send what is due; called in every cycle, and while time is frozen."""
        stage = self._stage
        if stage is None:
            return
        if self._graph is None or self._game.roster.version != self._roster_version:
            self._graph = SceneGraph(
                scene_nodes(stage.scene, self._game.roster, nao_meshes=self._nao_meshes)
            )
            self._roster_version, self._scene_version = self._game.roster.version, -1
            self._known = None
            self.request_full_state()
        now, sim = self._clock(), stage.scene.time
        due = [viewer for viewer in self._viewers.values() if _is_due(viewer, sim, now)]
        if not due:
            return
        known = self._renew(stage, self._graph)
        written: dict[_Seen | None, bytes] = {}
        for viewer in due:
            viewer.frame, viewer.sim, viewer.sent_at = _frame(viewer, sim), sim, now
            if viewer.repeats and now >= viewer.repeats[0]:
                del viewer.repeats[0]
                viewer.seen = None
            viewer.due += 1
            if not viewer.is_live and viewer.due % _LOG_REPEATS == 0:
                viewer.seen = None
            self._send(viewer, known, written)

    def _renew(self, stage: GameStage, graph: SceneGraph) -> _Seen:
        """Return the state that every viewer should have now."""
        if stage.scene.version != self._scene_version:
            self._scene_version = stage.scene.version
            graph.update(stage.scene.positions, stage.scene.rotations)
        known = None if self._known is None else self._known.nodes
        self._known = _Seen(graph, graph.seen(known, self._marks()), report(self._game))
        return self._known

    def _send(self, viewer: _Viewer, known: _Seen, written: dict[_Seen | None, bytes]) -> None:
        """Update a viewer; `written` has the messages by the state that they start from."""
        if not viewer.receiver.is_clear:
            return  # it does not read
        seen = viewer.seen
        if seen is not None and seen.graph is not known.graph:
            seen = None
        if seen not in written:
            written[seen] = self._write(seen, known)
        if not viewer.receiver.send(written[seen]):
            return
        viewer.seen = known
        if not viewer.got_second_full:
            viewer.got_second_full = True
            # The page has two full messages: after the environment, and after the game state.
            viewer.receiver.send(self._second_full(known))

    def _second_full(self, known: _Seen) -> bytes:
        """Return the second message, written once for all that connect now."""
        if self._second is None or self._second[0] is not known:
            nodes = known.graph.full(known.nodes)
            self._second = known, b'(%b)%b(%b)' % (game_state(known.game), FULL, nodes)
        return self._second[1]

    def _write(self, seen: _Seen | None, known: _Seen) -> bytes:
        if seen is None:
            head = self._environment_now() + game_state(known.game)
            return b'(%b)%b(%b)' % (head, FULL, known.graph.full(known.nodes))
        nodes = known.graph.changes(seen.nodes, known.nodes)
        return b'(%b)%b(%b)' % (game_state(known.game, seen.game), DIFF, nodes)

    def _marks(self) -> frozenset[str]:
        selected = self._game.selected
        return frozenset() if selected is None else frozenset({selection_key(selected)})

    def _environment_now(self) -> bytes:
        if self._rules is not self._game.rules:
            self._rules, self._environment = self._game.rules, environment(self._game.rules)
        return self._environment


def _frame(viewer: _Viewer, sim: float) -> int:
    """Return the number of the message for a time; live time is not exact."""
    return int(sim / viewer.period + 0.25)


def _is_due(viewer: _Viewer, sim: float, now: float) -> bool:
    if viewer.seen is None or viewer.frame is None:
        return True
    if _frame(viewer, sim) != viewer.frame:
        return True
    # While time is frozen, things may still be moved; a log omits that.
    return viewer.is_live and sim == viewer.sim and now - viewer.sent_at >= _STILL_PERIOD


__all__ = ['LOG_PERIOD', 'PERIOD', 'Receiver', 'Viewers']
