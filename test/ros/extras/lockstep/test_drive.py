# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which mode a server has after a lockstep."""

from types import SimpleNamespace
from unittest.mock import call
from unittest.mock import MagicMock

import pytest

from urlab_ros_bridge.ros.extras.lockstep.drive import LockstepDrive
from urlab_ros_bridge.ros.link.link_state import Phase


@pytest.mark.parametrize(
    ('modes', 'after'),
    [
        (['direct'], 'direct'),
        (['live', 'direct'], 'live'),  # the world was changed: the mode is that of the lockstep
        (['direct', 'live'], 'live'),  # the server was restarted
    ],
)
def test_the_mode_after_a_lockstep_is_that_of_the_server_before(modes, after):
    link = MagicMock(state=SimpleNamespace(phase=Phase.CONNECTED, connected=True, mode=''))
    session = link.open_session.return_value
    drive = LockstepDrive(link, 0.02, print)
    for mode in modes:
        link.handshake = SimpleNamespace(timestep=0.002)
        session.set_mode.return_value.previous = mode
        assert drive.ready() and session.set_mode.call_args == call('direct')
    assert drive.prepared == len(modes)
    drive.leave()
    assert session.set_mode.call_args == call(after)
