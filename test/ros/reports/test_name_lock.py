# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Locks on names: their holder, their release, and the scope of a lock."""

import errno
import os
from types import SimpleNamespace
from unittest import mock

from urlab_ros_bridge.ros.program.node import BridgeNode
from urlab_ros_bridge.ros.reports import second_bridge as module
from urlab_ros_bridge.ros.reports.second_bridge import lock_of
from urlab_ros_bridge.ros.reports.second_bridge import NameLock


def test_a_lock_is_for_one_name_on_one_domain(monkeypatch):
    for variable in os.environ:
        if variable.startswith((*module.PARTING, 'ROS_AUTOMATIC_', 'ROS_LOCALHOST_')):
            monkeypatch.delenv(variable)

    def address(name='/urlab_bridge', domain=7, **environment):
        context = SimpleNamespace(get_domain_id=lambda: domain)
        node = SimpleNamespace(context=context, get_fully_qualified_name=lambda: name)
        with mock.patch.dict(os.environ, environment):
            return lock_of(node)._address

    same = address()
    others = {
        address('/other/urlab_bridge'),
        address(domain=8),
        address(ROS_DISCOVERY_SERVER='127.0.0.1:11811'),
        address(ROS_SECURITY_ENABLE='true'),
    }
    assert len(others) == 4 and same not in others
    # These hear each other on one machine.
    for value in ('LOCALHOST', 'SUBNET', 'SYSTEM_DEFAULT', 'off'):
        assert address(ROS_AUTOMATIC_DISCOVERY_RANGE=value) == same
    # `urlab up` sets it, and so does the file that opens this environment.
    assert address(FASTDDS_DEFAULT_PROFILES_FILE='other.xml') == same


def test_a_bridge_that_cannot_lock_its_name_starts_and_logs_it_once(ros_node, monkeypatch):
    def refuse(lock):
        raise PermissionError(errno.EPERM, 'Operation not permitted')

    monkeypatch.setattr(NameLock, 'take', refuse)
    bridge_node = ros_node(BridgeNode, features=(module.FEATURE,))
    logged = []
    bridge_node.bridge.log = lambda *entry: logged.append(entry)
    bridge_node.start()
    ((severity, text),) = logged
    assert severity == 'warning' and 'Operation not permitted' in text
