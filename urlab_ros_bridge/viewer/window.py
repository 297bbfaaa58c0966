# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A window of MuJoCo's passive viewer on the client's own copy of a world."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import os
import queue
import threading
from typing import Any
import warnings

import numpy as np

from urlab_ros_bridge.client.errors import ClientError
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.replies.observations import Snapshot

# Time for the thread of a closed window to end (s).
_CLOSE_SECONDS = 5.0


class NoDisplay(ClientError):
    """No window can be opened here."""

    def __init__(self, cause: str) -> None:
        display = os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')
        where = f'DISPLAY is {display}' if display else 'DISPLAY is not set'
        super().__init__(
            f'cannot open a window: {where} ({cause or "no display"}). Run urlab view in a '
            'desktop session or over ssh -X; on a machine without a display, urlab webxr shows '
            'the simulation in a browser'
        )


def require_display() -> None:
    """
    Check that windows can be opened.

    :raises NoDisplay: when not.
    """
    from mujoco.viewer import glfw

    with warnings.catch_warnings(record=True) as reports:
        warnings.simplefilter('always')
        window = None
        if glfw.init():
            glfw.window_hint(glfw.VISIBLE, glfw.FALSE)
            window = glfw.create_window(64, 64, 'urlab view', None, None)
        if not window:
            # glfw warns of "(65550) b'X11: Failed to open display :7'".
            texts = [str(report.message).partition("b'")[2].rstrip("'") for report in reports]
            raise NoDisplay('; '.join(filter(None, texts)))
    glfw.destroy_window(window)
    glfw.default_window_hints()


@dataclass(frozen=True, slots=True)
class Drag:
    """
    What the user does to a body with the mouse.

    :ivar body: its id in the compiled model.
    :ivar point: where it is held, in its own frame (m), `target`: where to, in the world (m).
    :ivar wrench: force (N) and torque (N m) of MuJoCo's viewer, world frame, shape (6,).
    :ivar turns: whether it is turned instead of moved.
    """

    body: int
    point: np.ndarray
    target: np.ndarray
    wrench: np.ndarray
    turns: bool


@dataclass(frozen=True, slots=True)
class PointOfView:
    """
    A free camera.

    :ivar lookat: point in the middle of the image (m), `distance` from it (m).
    :ivar azimuth, elevation: degrees.
    """

    lookat: np.ndarray
    distance: float
    azimuth: float
    elevation: float


class Window:
    """
    A viewer of one world.

    :ivar keys: GLFW codes of the keys that were pressed, oldest first.
    """

    def __init__(self, local: LocalModel, view: PointOfView | None = None) -> None:
        """
        Open the window.

        :param view: of an earlier window; None: one of all robots.
        """
        import mujoco.viewer

        self._mujoco = mujoco
        self._local = local
        self._text = ''
        self.keys: queue.SimpleQueue[int] = queue.SimpleQueue()
        others = set(threading.enumerate())
        self._handle: Any = mujoco.viewer.launch_passive(
            local.model,
            local.data,
            key_callback=self.keys.put,
            show_left_ui=False,
            show_right_ui=False,
        )
        self._threads = set(threading.enumerate()) - others
        self._take(self._view_of_robots() if view is None else view)

    @property
    def is_open(self) -> bool:
        """Whether neither the user nor `close` has closed it."""
        return bool(self._handle.is_running())

    def show(self, seen: Snapshot) -> None:
        """
        Pose everything as in a snapshot.

        :raises UrlabError: when it does not fit the model.
        """
        self._local.update(seen)
        self._local.data.time = seen.time

    @property
    def view(self) -> PointOfView:
        """Where the user looks from."""
        with self._handle.lock():
            camera = self._handle.cam
            return PointOfView(
                camera.lookat.copy(), camera.distance, camera.azimuth, camera.elevation
            )

    def _take(self, view: PointOfView) -> None:
        with self._handle.lock():
            camera = self._handle.cam
            camera.lookat, camera.distance = view.lookat, view.distance
            camera.azimuth, camera.elevation = view.azimuth, view.elevation

    def _view_of_robots(self) -> PointOfView:
        """Return the usual point of view, further away if robots would not fit in."""
        view, bodies = self.view, self._local.robot_bodies
        if not bodies:
            return view
        places = self._local.data.xpos[bodies]
        low, high = places.min(axis=0), places.max(axis=0)
        distance = max(view.distance, 1.5 * float(np.linalg.norm(high - low)))
        return replace(view, lookat=(low + high) / 2, distance=distance)

    def drag(self) -> Drag | None:
        """Return what the user does with the mouse, None without a body."""
        mujoco, model, data = self._mujoco, self._local.model, self._local.data
        with self._handle.lock():
            held = self._handle.perturb
            if not held.active or held.select <= 0:
                return None
            mujoco.mj_comVel(model, data)
            mujoco.mjv_applyPerturbForce(model, data, held)
            return Drag(
                int(held.select),
                held.localpos.copy(),
                held.refselpos.copy(),
                data.xfrc_applied[held.select].copy(),
                bool(held.active & mujoco.mjtPertBit.mjPERT_ROTATE),
            )

    def refresh(self, text: str = '') -> None:
        """Draw, with a text in the corner."""
        if text != self._text:
            self._text = text
            if text:
                self._handle.set_texts((None, None, text, ''))
            else:
                self._handle.clear_texts()
        self._handle.sync()

    def close(self) -> None:
        """Close the window and wait for its threads to end."""
        self._handle.close()
        for thread in self._threads:
            thread.join(_CLOSE_SECONDS)
