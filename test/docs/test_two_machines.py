# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/howto/remote_machine.md, on two machines: network namespaces with a cable between them.

The commands are those of the page; each runs on the machine on which the page says it does.
"""

import contextlib
import os
from pathlib import Path
import shutil
import subprocess
import sys

from domains import free_domain
from lifelines import run_process
from lifelines import start_process
import pytest

from test.docs.test_pages import commands

PAGE = Path(__file__).parents[2] / 'docs' / 'howto' / 'remote_machine.md'
NODE = Path(__file__).with_name('far_node.py')
# Documentation addresses (RFC 5737): nobody has them; the page has one of its own.
THERE, HERE, FAR_HERE = '192.0.2.1', '192.0.2.2', '198.51.100.2'
GATEWAY_THERE, GATEWAY_HERE = '192.0.2.254', '198.51.100.254'
HOLD = 'mount -t tmpfs tmpfs /dev/shm && echo ready && exec sleep infinity'
PAGE_ADDRESS = '192.168.1.20'
MACHINES = ('there', 'here')
# s; machines stall.
PATIENCE = 100

pytestmark = [pytest.mark.ros, pytest.mark.timeout(400)]


class NotAllowed(Exception):
    """Machines cannot be made here."""


class Machines:
    """
    Two network namespaces, each with a shared memory of its own.

    :ivar domain: the ROS domain of both.
    """

    def __init__(self):
        self.domain = free_domain()
        self._holders = {}
        self._started = []

    def connect(self):
        """
        Make them, with a cable between them.

        :raises NotAllowed: here one cannot.
        """
        for name in MACHINES:
            self._hold(name)
            self._must(name, 'ip link set lo up')
        self._plug('there', THERE, 'here', HERE)

    def put_a_router_between(self):
        """Forward packets from one network to the other, but for those that go to many."""
        self._must('there', 'ip link delete card')
        self._hold('router')
        self._plug('router', GATEWAY_THERE, 'there', THERE)
        self._must('there', f'ip route add default via {GATEWAY_THERE}')
        self._must('router', 'ip link set card name card_there')
        self._plug('router', GATEWAY_HERE, 'here', FAR_HERE)
        self._must('here', f'ip route add default via {GATEWAY_HERE}')
        self._must('router', 'sysctl -q net.ipv4.ip_forward=1')

    def _hold(self, name):
        """Make a network namespace, which lives as long as a process in it."""
        holder = self._holders[name] = start_process(
            ['unshare', '--net', '--mount', 'sh', '-c', HOLD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        answer = holder.stdout.readline().strip()
        if answer != 'ready':
            raise NotAllowed(answer)

    def _plug(self, one, address, other, other_address):
        far = self._holders[other].pid
        self._must(one, f'ip link add card type veth peer name card netns {far}')
        for machine, own in ((one, address), (other, other_address)):
            self._must(machine, f'ip address add {own}/24 dev card')
            self._must(machine, 'ip link set card up')

    def close(self):
        for process in reversed(self._started):
            process.terminate()
            process.wait(PATIENCE)
        for holder in self._holders.values():  # with the last process its namespaces end
            holder.kill()
            holder.wait()
            holder.stdout.close()

    def _must(self, machine, words):
        result = self.run(machine, words.split())
        if result.returncode:
            raise NotAllowed(f'{words}: {result.stderr.strip()}')

    def run(self, machine, words, **environment):
        """Run a command to its end."""
        return run_process(
            self._on(machine, words),
            env=self._environment(environment),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )

    def start(self, machine, words, **environment):
        """Start a command that runs until the end."""
        process = start_process(
            self._on(machine, words),
            env=self._environment(environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._started.append(process)
        return process

    def _on(self, machine, words):
        if words[0] == 'urlab':
            words = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *words[1:]]
        holder = str(self._holders[machine].pid)
        return ['nsenter', '--target', holder, '--net', '--mount', *words]

    def _environment(self, given):
        found = {**os.environ, 'ROS_DOMAIN_ID': str(self.domain), **given}
        if 'ROS_AUTOMATIC_DISCOVERY_RANGE' not in given:
            # The tests' own keeps to one machine.
            found.pop('ROS_AUTOMATIC_DISCOVERY_RANGE', None)
        return found


@pytest.fixture(scope='module')
def machines(tmp_path_factory):
    """Yield two machines; the simulation runs there, as the page starts it."""
    for tool in ('ip', 'nsenter', 'sysctl', 'unshare'):
        if shutil.which(tool) is None:
            pytest.skip(f'there is no command {tool}')
    machines = Machines()
    with contextlib.ExitStack() as stack:
        stack.callback(machines.close)
        try:
            machines.connect()
        except NotAllowed as error:
            pytest.skip(f'no network namespaces: {error}')
        machines.keys = tmp_path_factory.mktemp('machines') / 'my_keys'
        made = machines.run('there', of_the_page('keys', machines.keys))
        assert made.returncode == 0, made.stderr
        machines.start('there', of_the_page('server', machines.keys))
        yield machines


def of_the_page(name, keys):
    """Return the first command of a name, for our addresses and our folder of keys."""
    words = next(words for words in commands(PAGE) if words[:2] == ['urlab', name])
    words = [word.replace(PAGE_ADDRESS, THERE).replace('my_keys', str(keys)) for word in words]
    if words[-2:] == ['--keys', 'laptop']:  # which was copied
        words[-1] = str(keys / 'laptop')
    return words


def listen(machines, machine, seconds=PATIENCE, **environment):
    """Listen as a node on a machine does; return what it heard, or how it failed."""
    result = machines.run(machine, [sys.executable, str(NODE), str(seconds)], **environment)
    return result.stdout.strip() or result.stderr


EVERYTHING = 'heard front_rgb/image_raw/compressed odom'


def test_the_bridge_stands_beside_the_nodes(machines):
    only_here = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}  # ROS need not cross the network
    bridge = machines.start('here', of_the_page('bridge', machines.keys), **only_here)
    assert listen(machines, 'here', **only_here) == EVERYTHING
    checked = machines.run('here', of_the_page('doctor', machines.keys))
    assert f'server {THERE}:5559' in checked.stdout and 'robots: rover' in checked.stdout
    assert checked.returncode == 0, checked.stdout
    bridge.terminate()
    assert bridge.wait(PATIENCE) == 0


def test_the_bridge_stands_beside_the_server(machines):
    # `urlab up` of the page, whose server runs already.
    words = ['urlab', 'bridge', '--keys', str(machines.keys)]
    bridge = machines.start('there', words)
    assert listen(machines, 'here') == EVERYTHING
    bridge.terminate()
    assert bridge.wait(PATIENCE) == 0


@pytest.mark.long
def test_peers_are_named_where_multicast_does_not_pass(machines):
    machines.put_a_router_between()
    words = ['urlab', 'bridge', '--keys', str(machines.keys)]
    bridge = machines.start('there', words)
    assert listen(machines, 'here', ROS_STATIC_PEERS=THERE) == EVERYTHING
    assert listen(machines, 'here', 4) == 'heard'
    bridge.terminate()
    assert bridge.wait(PATIENCE) == 0
