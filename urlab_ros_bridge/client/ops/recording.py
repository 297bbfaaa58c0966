# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay ops (Protocol Reference, "Recording", "Replay")."""

from __future__ import annotations

from urlab_ros_bridge.client.replies.ops import RecordingStopped
from urlab_ros_bridge.client.replies.ops import ReplayLoaded
from urlab_ros_bridge.client.replies.ops import ReplayStarted
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.session import Session

FILE_TIMEOUT = 600.0  # s; an hour at 500 Hz takes about a minute to write


class RecordingOps(Session):
    """One method for each op of the namespaces recording and replay."""

    def recording_start(self, name: str | None = None, max_duration_s: float | None = None) -> str:
        """
        Begin a recording; return the name of its session, which is live.

        :param name: of the file that `recording_save` writes unless given another one.
        """
        reply = self.request('recording_start', name=name, max_duration_s=max_duration_s)
        return read_field(reply, 'name', str)

    def recording_stop(self) -> RecordingStopped:
        """End the recording; its frames stay in the server's buffer."""
        return read_reply(RecordingStopped, self.request('recording_stop'))

    def recording_save(
        self, path: str | None = None, timeout: float = FILE_TIMEOUT, *, overwrite: bool = False
    ) -> str:
        """
        Write the recording on the server's disk; return its absolute path there.

        The call ends when the file is whole; other clients are not delayed.

        :param path: None: named after the recording, with a number where that is taken.
        :param overwrite: replace a file of that name, which otherwise raises `PathNotWritable`
            (extension ``recording_overwrite``; stock servers always replace it).
        :raises ExtensionMissing: without `overwrite`, when the server cannot keep an existing
            file; nothing was sent.
        """
        self.require('recording_save', recording_overwrite=not overwrite)
        reply = self.request('recording_save', timeout, path=path, overwrite=overwrite)
        return read_field(reply, 'absolute_path', str)

    def recording_clear(self) -> None:
        """Forget the recorded frames."""
        self.request('recording_clear')

    def replay_load(self, path: str, timeout: float = FILE_TIMEOUT) -> ReplayLoaded:
        """Load a recording from the server's disk as a replay session."""
        return read_reply(ReplayLoaded, self.request('replay_load', timeout, path=path))

    def replay_list_sessions(self) -> tuple[str, ...]:
        """Return the names of the loaded replay sessions."""
        return read_field(self.request('replay_list_sessions'), 'sessions', tuple[str, ...])

    def replay_set_active(self, name: str) -> None:
        """Choose what replay_start plays."""
        self.request('replay_set_active', name=name)

    def replay_start(self) -> ReplayStarted:
        """Play the active session (direct or puppet)."""
        return read_reply(ReplayStarted, self.request('replay_start'))

    def replay_stop(self) -> None:
        """Stop playing."""
        self.request('replay_stop')
