# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which mode a server has after a lockstep."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.ros.link.link_state import Phase
from urlab_ros_bridge.ros.lockstep.drive import LockstepDrive


class Simulator:
    """A server and the link to it, as the drive sees them."""

    def __init__(self, mode):
        self.mode = mode
        self.modes = []
        self.generation = 0
        self.commands = None
        self.state = SimpleNamespace(phase=Phase.CONNECTED, connected=True, mode='')
        self.restart(mode)

    def restart(self, mode):
        """Be another world, or another server in a mode of its own."""
        self.mode = mode
        self.handshake = SimpleNamespace(timestep=0.002)

    def has(self, extension):
        return False

    def open_session(self, name):
        return self

    def set_mode(self, mode):
        previous, self.mode = self.mode, mode
        self.modes.append(mode)
        return SimpleNamespace(previous=previous, current=mode)

    def record_mode(self, mode):
        self.state.mode = mode

    def record_paused(self, paused):
        pass

    def close(self):
        pass


@pytest.mark.parametrize(
    ('modes', 'after'),
    [
        (['live'], 'live'),
        (['direct'], 'direct'),
        (['live', 'direct'], 'live'),  # the world was changed: the mode is that of the lockstep
        (['direct', 'live'], 'live'),  # the server was restarted
        (['live', 'live'], 'live'),
    ],
)
def test_the_mode_after_a_lockstep_is_that_of_the_server_before(modes, after):
    simulator = Simulator(modes[0])
    drive = LockstepDrive(simulator, 0.02, lambda severity, text: None)
    assert drive.ready()
    for mode in modes[1:]:
        simulator.restart(mode)
        assert drive.ready() and simulator.mode == 'direct'
    assert drive.prepared == len(modes)
    drive.leave()
    assert simulator.mode == after
