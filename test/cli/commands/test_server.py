# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import sys

import pytest
from urlab_programs import ANY_PORTS

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.wire.addresses import is_loopback


@pytest.mark.parametrize('address', ['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]', 'lo'])
def test_loopback(address):
    assert is_loopback(address)


@pytest.mark.parametrize('address', ['0.0.0.0', '*', '::', '192.168.1.2', 'eth0', 'example', ''])
def test_not_loopback(address):
    assert not is_loopback(address)


def test_binding_wider_than_loopback_warns(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    for address, warns in (('0.0.0.0', True), ('127.0.0.1', False)):
        main(['server', '--insecure', '--bind', address, *ANY_PORTS])
        assert ('anyone who can reach' in capsys.readouterr().err) is warns
