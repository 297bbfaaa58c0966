# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's checks of a server, over real sockets."""

import socket

from bundled_server import ports_of
from bundled_server import running_server
import mujoco
from ports import free_port

from urlab_ros_bridge.cli.checks import network
from urlab_ros_bridge.cli.checks import Severity


def test_a_running_server_is_described():
    with running_server(world='rover', cameras='off') as server:
        rpc, stream = network.check_all('127.0.0.1', ports_of(server), 20.0)
    assert rpc.level is stream.level is Severity.OK
    for part in ('world rover', f'MuJoCo {mujoco.__version__}', 'robots: rover', 'live mode'):
        assert part in rpc.found


def test_without_a_server_the_doctor_reports_whether_one_could_start():
    free = free_port()
    ports = dict.fromkeys(('rpc_port', 'state_port', 'camera_port'), free)
    findings = network.check_all('127.0.0.1', ports, 0.2)
    assert [finding.level for finding in findings] == [Severity.OK] * 4
    assert 'urlab up' in findings[0].found
    with socket.create_server(('127.0.0.1', free)):
        taken = network.check_all('127.0.0.1', ports, 0.2)[1]
    assert taken.level is Severity.FAIL
    assert '--port-offset' in taken.advice and 'pid' in taken.found
