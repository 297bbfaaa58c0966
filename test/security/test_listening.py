# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The addresses that each program listens at, by /proc/net: loopback by default.

Those of the gateways are in test_clients_stay_inside.py, where they run.

DDS is the exception: the environment sets its range (ROS_AUTOMATIC_DISCOVERY_RANGE), as for any
ROS node. It uses UDP alone.
"""

import sys

from domains import free_domain
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import listening
from urlab_programs import port_of
from urlab_programs import program

from test.security.watching import beyond_loopback
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import open_camera

PATIENCE = 60.0


@pytest.fixture(scope='module')
def server():
    with program('server', '--world=rover', '--cameras=on', *ANY_PORTS) as (process, line):
        yield process, line


def test_the_server_with_its_cameras(server):
    process, line = server
    with Client(rpc_port=port_of(line), shared=True, timeout=PATIENCE) as client:
        robots = client.handshake.articulations.values()
        cameras = [camera for robot in robots for camera in robot.cameras.values()]
        with open_camera(cameras[0], transport='zmq') as images:
            assert images.receive(PATIENCE) is not None  # the renderer runs too
        ports = {camera.port for camera in cameras}
    places = listening(process.pid)
    ports |= {port_of(line, name) for name in ('rpc', 'state', 'control', 'info')}
    assert {port for _, _, port in places} >= ports
    assert beyond_loopback(places) == []


@pytest.mark.ros
def test_the_bridge(server, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(free_domain()))
    words = [f'--{name}-port={port_of(server[1], name)}' for name in ('rpc', 'state')]
    with Client(rpc_port=port_of(server[1]), shared=True, timeout=PATIENCE) as client:
        with program('bridge', *words, before=BRIDGE, ready='connected') as (process, _):
            places = listening(process.pid)
        assert client.status()
    assert places and {protocol[:3] for protocol, _, _ in places} == {'udp'}


# A bridge that says on stdout what others say in their log.
BRIDGE = (
    '-c',
    'import os, sys; os.dup2(1, 2); from urlab_ros_bridge.cli.main import main; '
    'sys.exit(main(sys.argv[1:]))',
)


@pytest.mark.parametrize(
    ('command', 'remedy'),
    [
        (['server'], 'keys'),
        (['up'], 'keys'),
        (['chiral'], '--token'),
        (['webxr'], '--token'),
        (['simspark'], '--insecure'),
    ],
)
@pytest.mark.parametrize('address', ['0.0.0.0', '*', '::'])
def test_a_wide_bind_needs_a_token_keys_or_insecure(command, remedy, address, capsys):
    assert main([*command, '--bind', address]) != 0
    error = capsys.readouterr().err
    assert remedy in error and 'insecure' in error and 'Traceback' not in error


@pytest.mark.parametrize(('address', 'warns'), [('0.0.0.0', True), ('127.0.0.1', False)])
def test_an_insecure_server_warns_that_anyone_can_drive(address, warns, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'mujoco', None)  # it ends after the warning
    main(['server', '--insecure', '--bind', address, *ANY_PORTS])
    assert ('anyone who can reach' in capsys.readouterr().err) is warns
