# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a monitor: environment, game and scene graph, updated by messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
import re

import numpy as np

from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import read

FULL, DIFF = 'RSG', 'RDS'
TRANSFORM = 'TRF'
BALL_MESH = 'soccerball.obj'

_NUMBER = re.compile(r'matNum([0-9]+)')
_SIDES = {'matLeft': 'left', 'matRight': 'right'}


@dataclass(slots=True, eq=False)
class ViewedNode:
    """
    One node.

    :ivar kind: ``TRF``, ``SMN``, ``StaticMesh`` or ``Light``.
    :ivar matrix: of a transform: to its parent, shape (4, 4).
    :ivar details: of a mesh or light: name -> values, as ``load``, ``sSc``, ``sMat``.
    """

    kind: str
    matrix: np.ndarray = field(default_factory=lambda: np.eye(4))
    details: dict[str, list[str]] = field(default_factory=dict)
    children: list[ViewedNode] = field(default_factory=list)

    def below(self) -> Iterator[ViewedNode]:
        """Yield all nodes below this one."""
        for child in self.children:
            yield child
            yield from child.below()

    @property
    def is_visible(self) -> bool:
        """Return whether a mesh is shown."""
        return self.details.get('setVisible') == ['1']


@dataclass(slots=True)
class SceneView:
    """
    The state after the messages of the monitors' port so far.

    :ivar environment: name -> values, of the environment information.
    :ivar game: name -> values, of the game state.
    :ivar nodes: top level of the scene graph.
    :ivar fulls, diffs: how many messages of each kind there were.
    """

    environment: dict[str, list[str]] = field(default_factory=dict)
    game: dict[str, list[str]] = field(default_factory=dict)
    nodes: list[ViewedNode] = field(default_factory=list)
    fulls: int = 0
    diffs: int = 0

    def take(self, payload: bytes) -> bool:
        """
        Apply a message; return whether it was one of a scene.

        :raises MalformedExpression: when it is none of the protocol or does not fit the nodes.
        """
        items = read(payload)
        if len(items) == 1 and head(items[0]) == 'ack':
            return False
        if len(items) != 3 or not all(isinstance(item, list) for item in items):
            raise MalformedExpression(
                f'{len(items)} expressions instead of state, header and nodes'
            )
        state, header, nodes = items
        kind = head(header)
        if kind not in (FULL, DIFF) or header[1:] != ['0', '1']:
            raise MalformedExpression(f'scene graph header {header!r}')
        if kind == DIFF and not self.fulls:
            raise MalformedExpression('a diff before the first full message')
        self._take_state(state)
        if kind == FULL:
            self.nodes = [_read_node(node) for node in nodes]
            self.fulls += 1
        else:
            _apply(self.nodes, list(nodes))
            self.diffs += 1
        return True

    @property
    def time(self) -> float:
        """Return the time of the game, s."""
        return as_float(self.game['time'][0])

    @property
    def play_mode(self) -> str:
        """Return the name of the play mode."""
        return self.environment['play_modes'][int(self.game['play_mode'][0])]

    @property
    def score(self) -> tuple[int, int]:
        """Return the score, that of the left first."""
        return int(self.game['score_left'][0]), int(self.game['score_right'][0])

    @property
    def ball(self) -> np.ndarray | None:
        """Return where the ball is, m, shape (3,)."""
        for node in self.nodes:
            for mesh in node.children:
                if ''.join(mesh.details.get('load', [])).endswith(BALL_MESH):
                    return node.matrix[:3, 3]
        return None

    @property
    def players(self) -> dict[tuple[str, int], ViewedNode]:
        """Return the bases of the players by side and number, as viewers find them."""
        found = {}
        for top in self.nodes:
            bodies = [node for node in top.children if node.kind == TRANSFORM]
            for body in bodies:
                for mesh in body.below():
                    materials = ' '.join(mesh.details.get('resetMaterials', []))
                    number = _NUMBER.search(materials)
                    side = next((s for name, s in _SIDES.items() if name in materials), None)
                    if number and side:
                        found[side, int(number[1])] = body
        return found

    def _take_state(self, state: Expression) -> None:
        if not state:
            raise MalformedExpression('an empty game state')
        for entry in state:
            name = head(entry)
            if not name or not isinstance(entry, list):
                raise MalformedExpression(f'game state entry {entry!r}')
            target = self.environment if name[0].isupper() or name == 'play_modes' else self.game
            target[name] = [str(value) for value in entry[1:]]


def _read_node(item: Expression) -> ViewedNode:
    """Read a node of a full message; the depth is bounded by the reader of expressions."""
    if head(item) != 'nd' or len(item) < 2 or not isinstance(item[1], str):
        raise MalformedExpression(f'node {str(item)[:60]!r}')
    node = ViewedNode(item[1])
    for part in item[2:]:
        name = head(part)
        if name == 'nd':
            node.children.append(_read_node(part))
        elif name == 'SLT':
            node.matrix = _matrix(part)
        elif isinstance(part, list):
            node.details[name] = [str(value) for value in part[1:]]
        else:
            raise MalformedExpression(f'{part!r} in a node')
    if node.kind == TRANSFORM and (len(item) < 3 or head(item[2]) != 'SLT'):
        raise MalformedExpression('a transform that does not begin with its SLT')
    return node


def _matrix(leaf: Expression) -> np.ndarray:
    numbers = [as_float(number) for number in leaf[1:]]
    if len(numbers) != 16:
        raise MalformedExpression(f'SLT with {len(numbers)} numbers')
    return np.array(numbers).reshape(4, 4).T


def _apply(nodes: list[ViewedNode], changes: list[Expression]) -> None:
    if len(nodes) != len(changes):
        raise MalformedExpression(f'{len(changes)} nodes in a diff of {len(nodes)}')
    for node, change in zip(nodes, changes, strict=True):
        if head(change) != 'nd' or not isinstance(change, list):
            raise MalformedExpression(f'node {str(change)[:60]!r}')
        parts = change[1:]
        if parts and isinstance(parts[0], str):
            if parts.pop(0) != node.kind:
                raise MalformedExpression(f'{change[1]} instead of {node.kind}')
        elif node.kind in ('SMN', 'StaticMesh'):
            raise MalformedExpression(f'a diff without the kind of its {node.kind}')
        if parts and head(parts[0]) == 'SLT':
            node.matrix = _matrix(parts.pop(0))
        while parts and head(parts[0]) not in ('', 'nd'):
            leaf = parts.pop(0)
            node.details[head(leaf)] = [str(value) for value in leaf[1:]]
        _apply(node.children, parts)


__all__ = ['SceneView', 'ViewedNode']
