# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay ops (Protocol Reference, "Recording", "Replay")."""

from __future__ import annotations

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies import Recording
from urlab_ros_bridge.client.replies import ReplayLoaded
from urlab_ros_bridge.client.replies import ReplayStarted
from urlab_ros_bridge.client.session import Session

FILE_TIMEOUT = 600.0  # s; an hour at 500 Hz takes about a minute to write


class RecordingOps(Session):
    """One method for each op of the namespaces recording and replay."""

    def recording_start(self, name: str | None = None, max_duration_s: float | None = None) -> str:
        """Begin a recording; return the name that the server gave it."""
        reply = self.request('recording_start', name=name, max_duration_s=max_duration_s)
        return f.text(reply, 'name', 'recording_start_ok')

    def recording_stop(self) -> Recording:
        """End the recording; its frames stay in the server's buffer."""
        reply, where = self.request('recording_stop'), 'recording_stop_ok'
        return Recording(
            f.text(reply, 'name', where),
            f.integer(reply, 'frame_count', where, 0),
            f.number(reply, 'sim_duration_s', where, 0.0),
        )

    def recording_save(self, path: str | None = None, timeout: float = FILE_TIMEOUT) -> str:
        """
        Write the recording on the server's disk; return its absolute path there.

        The call ends when the file is whole; meanwhile another client may go on.
        """
        reply = self.request('recording_save', timeout, path=path)
        return f.text(reply, 'absolute_path', 'recording_save_ok')

    def recording_clear(self) -> None:
        """Forget the recorded frames."""
        self.request('recording_clear')

    def replay_load(self, path: str, timeout: float = FILE_TIMEOUT) -> ReplayLoaded:
        """Load a recording from the server's disk as a replay session."""
        reply, where = self.request('replay_load', timeout, path=path), 'replay_load_ok'
        return ReplayLoaded(
            f.text(reply, 'name', where), f.integer(reply, 'total_frames', where, 0)
        )

    def replay_list_sessions(self) -> tuple[str, ...]:
        """Return the names of the loaded replay sessions."""
        names = self.request('replay_list_sessions').get('sessions')
        if not isinstance(names, list):
            raise ProtocolError(f'replay_list_sessions_ok.sessions is {names!r}, expected a list')
        return tuple(str(name) for name in names)

    def replay_set_active(self, name: str) -> None:
        """Choose what replay_start plays."""
        self.request('replay_set_active', name=name)

    def replay_start(self) -> ReplayStarted:
        """Play the active session (direct or puppet)."""
        reply, where = self.request('replay_start'), 'replay_start_ok'
        return ReplayStarted(
            f.text(reply, 'active_session', where), f.integer(reply, 'total_frames', where, 0)
        )

    def replay_stop(self) -> None:
        """Stop playing."""
        self.request('replay_stop')
