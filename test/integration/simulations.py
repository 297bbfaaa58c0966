# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Servers and bridges as processes of their own."""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys

from bridge_harness import start_bridged
from lifelines import start_process
from lifelines import stop_for_a_while
from urlab_programs import port_of

from urlab_ros_bridge.client import Client

ROOT = Path(__file__).parents[2]


class Program:
    """One of our programs as a process; its output goes to the test's, or to a log."""

    def __init__(self, module, *words, log=None, **environment):
        self.process = start_process(
            [sys.executable, '-u', '-m', module, *map(str, words)],
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **environment},
        )

    def kill(self):
        self.process.kill()
        self.process.wait()

    @contextlib.contextmanager
    def stopped(self):
        """Stop the process for the length of a with block."""
        stop_for_a_while(self.process)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(8)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()


class ServerProgram(Program):
    """
    urlab server.

    :ivar ports: of requests and of the state.
    :ivar client: connected to it.
    """

    def __init__(self, *words, ports=(0, 0)):
        ports = (f'--rpc-port={ports[0]}', f'--state-port={ports[1]}', '--camera-port=0')
        super().__init__('urlab_ros_bridge.cli.main', 'server', *ports, *words)
        line = self.process.stdout.readline()
        self.ports = [port_of(line), port_of(line, 'state')]
        self.client = Client('127.0.0.1', self.ports[0], shared=True)
        self.client.connect()

    def now_ns(self, later=0.0):
        """Return the time of the simulation, plus so many seconds."""
        return self.client.status().sim_time_ns + round(later * 1e9)

    def stop(self):
        self.client.close()
        super().stop()


def start_bridge(domain, server, log=None, **parameters):
    values = {'rpc_port': server.ports[0], 'state_port': server.ports[1], **parameters}
    ros = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
    module = 'urlab_ros_bridge.ros.program.main'
    return Program(module, '--ros-args', *ros, log=log, ROS_DOMAIN_ID=str(domain))


def start_simulation(keep, server, **parameters):
    """Return a server, its bridge, and a listener on a ROS domain of their own."""
    return keep(server), *start_bridged(keep, server, start_bridge, **parameters)


def send_goal(listener, client, goal, feedback=None):
    """Send the goal of an action, and return the response; None if it is rejected."""
    handle = listener.outcome(lambda: client.send_goal_async(goal, feedback_callback=feedback))
    return listener.outcome(handle.get_result_async) if handle.accepted else None
