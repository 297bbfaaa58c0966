# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Locks on names: their holder, their release, and the scope of a lock."""

import errno
import os
import subprocess
import sys
from types import SimpleNamespace
import uuid

from lifelines import start_process
import pytest

from urlab_ros_bridge.ros.program.node import BridgeNode
from urlab_ros_bridge.ros.reports import second_bridge as module
from urlab_ros_bridge.ros.reports.second_bridge import lock_of
from urlab_ros_bridge.ros.reports.second_bridge import NameLock

pytestmark = pytest.mark.timeout(120)
# Says whether it has got the lock, and holds it until its input ends.
HOLDER = """
import sys, {more}
from urlab_ros_bridge.ros.reports.second_bridge import NameLock
lock = NameLock(sys.argv[1])
sys.stdin.readline()
print(lock.take(), flush=True)
{then}
sys.stdin.read()
"""


@pytest.fixture
def name():
    """Return a name that nobody else uses."""
    return uuid.uuid4().hex


@pytest.fixture
def holders(name):
    """Return a function that starts a process which takes the lock on request."""
    started = []

    def start(more='os', then=''):
        program = HOLDER.format(more=more, then=then)
        process = start_process(
            [sys.executable, '-c', program, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def request(*processes):
    """Make all take the lock at the same time; return whether each has it."""
    for process in processes:
        process.stdin.write('go\n')
    for process in processes:
        process.stdin.flush()
    return [process.stdout.readline() == 'True\n' for process in processes]


def test_one_holds_a_name_until_it_is_released(name):
    first, second = NameLock(name), NameLock(name)
    assert first.take() and first.take() and not second.take()
    second.release()
    assert not second.take()
    first.release()
    first.release()
    assert second.take() and not first.take()
    second.release()


def test_one_of_many_gets_the_lock_and_a_kill_releases_it(name, holders):
    many = [holders() for _ in range(4)]
    got = request(*many)
    assert sum(got) == 1
    many[got.index(True)].kill()
    many[got.index(True)].wait()
    lock = NameLock(name)
    assert lock.take()
    lock.release()


def node(full_name='/urlab_bridge', domain=7):
    return SimpleNamespace(
        context=SimpleNamespace(get_domain_id=lambda: domain),
        get_fully_qualified_name=lambda: full_name,
    )


@pytest.fixture
def plain(monkeypatch):
    """Take away what parts nodes, and return what sets variables."""
    for variable in os.environ:
        if variable.startswith((*module.PARTING, 'ROS_AUTOMATIC_', 'ROS_LOCALHOST_')):
            monkeypatch.delenv(variable)
    return monkeypatch


def test_a_lock_is_for_one_name_on_one_domain(plain):
    def address():
        return lock_of(node())._address

    same = address()
    assert same == lock_of(node())._address
    others = {lock_of(node('/other/urlab_bridge'))._address, lock_of(node(domain=8))._address}
    for variable, value in (
        ('ROS_DISCOVERY_SERVER', '127.0.0.1:11811'),
        ('ROS_SECURITY_ENABLE', 'true'),
    ):
        with plain.context() as changed:
            changed.setenv(variable, value)
            others.add(address())
    with plain.context() as changed:
        changed.setattr(module, 'get_rmw_implementation_identifier', lambda: 'rmw_other')
        others.add(address())
    assert len(others) == 5 and same not in others
    # These hear each other on one machine.
    for value in ('LOCALHOST', 'SUBNET', 'SYSTEM_DEFAULT', 'off'):
        plain.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', value)
        assert address() == same
    # `urlab up` sets it, and so does the file that opens this environment.
    plain.setenv('FASTDDS_DEFAULT_PROFILES_FILE', 'other.xml')
    assert address() == same


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
