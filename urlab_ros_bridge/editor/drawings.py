# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Debug drawings: markers, lines, boxes, arrows and axes in the world, and a line of text.

They are not part of the level or of physics.  A drawing lives for `ttl` seconds of wall time, for
one image when it is 0, and until `clear_markers` when it is negative (stock plugin).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import itertools
import threading
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.sim.cameras.rig import CameraRig

MAX_DRAWINGS = 2000  # then the oldest is removed
ONE_IMAGE = 0.1  # s; cameras are slower than a game's screen
TEXT_SECONDS = 10.0  # how long the stock plugin shows the text
MARKER_RADIUS = 0.05  # m, stock plugin
HEAD_SHARE = 0.2  # arrow heads: share of the length, stock plugin
LINE_WIDTH = 0.01  # m for thickness 1 (the Unreal engine's unit is 1 cm)
Color = tuple[float, float, float]  # red, green, blue from 0 to 1
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Drawing:
    """
    One drawing.

    :ivar kind: marker, line, box, arrow or axes.
    :ivar geometry: its own fields, as `read_markers` returns them: m, quaternions x, y, z, w.
    :ivar end: when it expires, by the clock of `Drawings`; None: never.
    """

    number: int
    kind: str
    color: Color
    tag: str
    end: float | None
    geometry: dict[str, Any] = field(default_factory=dict)


class Drawings:
    """All drawings; thread-safe, since a renderer reads them from another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Condition()
        self._version = 0
        self._drawings: dict[int, Drawing] = {}
        self._numbers = itertools.count(1)
        self._text = ('', 'top_left', 0.0)

    def add(
        self,
        kind: str,
        color: Color,
        ttl: float,
        tag: str,
        **geometry: Any,
    ) -> Drawing:
        """Draw something; see `Drawing`."""
        end = None if ttl < 0 else self._clock() + max(ttl, ONE_IMAGE)
        drawing = Drawing(next(self._numbers), kind, color, tag, end, geometry)
        with self._lock:
            self._drop_expired()
            while len(self._drawings) >= MAX_DRAWINGS:
                del self._drawings[next(iter(self._drawings))]
            self._drawings[drawing.number] = drawing
            self._changed()
        return drawing

    def clear(self, tag: str = '') -> int:
        """Remove the drawings with this tag ('' for all); return their number."""
        with self._lock:
            doomed = [n for n, item in self._drawings.items() if not tag or item.tag == tag]
            for number in doomed:
                del self._drawings[number]
            self._changed()
            return len(doomed)

    def set_text(self, text: str, anchor: str) -> None:
        """Show a line of text for ten seconds; '' removes it."""
        with self._lock:
            self._text = (text, anchor, self._clock() + TEXT_SECONDS)

    def text(self) -> tuple[str, str]:
        """Return the present text and its anchor."""
        text, anchor, end = self._text
        return ('', anchor) if self._clock() >= end else (text, anchor)

    def current(self) -> list[Drawing]:
        """Return the present drawings, oldest first."""
        with self._lock:
            self._drop_expired()
            return list(self._drawings.values())

    def shapes(self) -> list[dict[str, Any]]:
        """Return the present drawings as the shapes that renderers draw."""
        return [shape for drawing in self.current() for shape in shapes(drawing)]

    @property
    def version(self) -> int:
        """Return a number that grows with every change."""
        return self._version

    def wait(self, version: int) -> None:
        """Wait until the drawings differ from those of `version`, or until `wake`."""
        with self._lock:
            if self._version != version:
                return
            ends = [item.end for item in self._drawings.values() if item.end is not None]
            self._lock.wait(max(min(ends) - self._clock(), 0.0) if ends else None)

    def wake(self) -> None:
        """Wake the waiting threads to check again."""
        with self._lock:
            self._changed()

    def _changed(self) -> None:
        self._version += 1
        self._lock.notify_all()

    def describe(self) -> list[dict[str, Any]]:
        """Return the present drawings as plain maps; `ttl` is the time left in s (-1: no end)."""
        now = self._clock()
        return [
            {
                'id': item.number,
                'kind': item.kind,
                'color': list(item.color),
                'tag': item.tag,
                'ttl': -1.0 if item.end is None else max(item.end - now, 0.0),
                **item.geometry,
            }
            for item in self.current()
        ]

    def _drop_expired(self) -> None:
        now = self._clock()
        for number in [n for n, item in self._drawings.items() if (item.end or now + 1) <= now]:
            del self._drawings[number]


def box_geometry(
    center: Sequence[float], half: Sequence[float], quat: Sequence[float]
) -> dict[str, Any]:
    """Return the fields of a box; quat is x, y, z, w."""
    return {
        'center': list(center),
        'half_extents': [abs(part) for part in half],
        'rotation_quat': list(quat),
    }


def shapes(drawing: Drawing) -> list[dict[str, Any]]:
    """
    Return a drawing as simple shapes, in the form that renderers take.

    Each has `type`, `rgba` and either `pos`, `mat` and `size`, or `from`, `to` and `width`.
    """
    made, geometry = [], drawing.geometry
    rgba = [*drawing.color, 1.0]
    if drawing.kind == 'marker':
        shape = {'type': 'sphere', 'pos': geometry['location'], 'size': [MARKER_RADIUS]}
        made.append({**shape, 'rgba': rgba, 'label': geometry.get('label', '')})
    elif drawing.kind == 'line':
        made.append(_bar('capsule', geometry['from'], geometry['to'], geometry['width'], rgba))
    elif drawing.kind == 'arrow':
        made.append(_bar('arrow', geometry['from'], geometry['to'], geometry['width'], rgba))
    elif drawing.kind == 'box':
        made += _edges(geometry, rgba)
    else:
        made += _triad(geometry)
    return made


def _bar(
    kind: str, start: Sequence[float], end: Sequence[float], width: float, rgba: list[float]
) -> dict[str, Any]:
    return {'type': kind, 'from': list(start), 'to': list(end), 'width': width, 'rgba': rgba}


def _edges(geometry: dict[str, Any], rgba: list[float]) -> list[dict[str, Any]]:
    """Return the twelve edges of a box; its contents stay visible."""
    turn, half = matrix_of(geometry['rotation_quat']), np.asarray(geometry['half_extents'])
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    places = (corners * half) @ turn.T + np.asarray(geometry['center'])
    return [
        _bar('capsule', places[a].tolist(), places[b].tolist(), LINE_WIDTH / 2, rgba)
        for a, b in itertools.combinations(range(8), 2)
        if np.count_nonzero(corners[a] != corners[b]) == 1
    ]


def _triad(geometry: dict[str, Any]) -> list[dict[str, Any]]:
    turn, start = matrix_of(geometry['rotation_quat']), np.asarray(geometry['location'])
    length = geometry['scale']
    return [
        _bar(
            'arrow',
            start.tolist(),
            (start + length * turn[:, axis]).tolist(),
            length * 0.05,
            [*_AXES[axis], 1.0],
        )
        for axis in range(3)
    ]


class OverlayUpdater(threading.Thread):
    """A service of a world: updates the overlays of its cameras when drawings change."""

    def __init__(self, drawings: Drawings, cameras: CameraRig) -> None:
        super().__init__(name='overlays', daemon=True)
        self._drawings = drawings
        self._cameras = cameras
        self._closed = False
        self.start()

    def run(self) -> None:
        """Repeat until `close`."""
        shown: list[dict[str, Any]] = []
        while not self._closed:
            version, shapes = self._drawings.version, self._drawings.shapes()
            if shapes != shown:
                shown = shapes
                self._cameras.set_overlays(shapes)
            self._drawings.wait(version)

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._drawings.wake()
        self.join(timeout=5.0)
