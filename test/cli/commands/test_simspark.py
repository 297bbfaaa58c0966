# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab simspark` as a program, on a real server."""

import re

from bundled_server import simulation
from simspark_client import MonitorClient
from simspark_client import SceneView
from urlab_programs import start_urlab

from urlab_ros_bridge.cli.commands import simspark


def test_a_world_is_watched_commanded_and_logged_until_a_signal(tmp_path):
    log = tmp_path / 'game.log'
    with simulation('rover', cameras='off') as port:
        words = [f'--rpc-port={port}', '--port=0', '--monitor-port=0', f'--log={log}']
        gateway, line = start_urlab('simspark', *words, '--allow-killsim')
        ports = re.fullmatch(rf'{simspark.READY_LINE}: agents=\d+ monitors=(\d+) .*=rover\n', line)
        with MonitorClient(port=int(ports[1])) as monitor:
            monitor.update()
            monitor.command(['playMode', 'PlayOn'])
            assert list(monitor.view.players) == [('left', 1)]
            monitor.send(['killsim'])
        assert gateway.wait(20) == 0, gateway.stderr.read()
    view = SceneView()
    assert all(view.take(line) for line in log.read_bytes().splitlines())
    assert view.fulls == 1
