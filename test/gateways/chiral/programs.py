# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation and its Chiral gateway as programs that can be killed and restarted."""

import re
import subprocess

from ports import free_port
import psutil
from urlab_programs import start_urlab

SIDE_PORTS = ('state', 'camera', 'control', 'info')


class Programs:
    """
    Starts both.

    :ivar url: of the gateway; `log` is the file that it logs to.
    """

    def __init__(self, folder, world, *words, profile='cameras: []\n'):
        self._world = world
        self._rpc = free_port()
        self._forgotten = 0
        self.log = folder / 'gateway.log'
        self.simulation = self._start_simulation()
        (folder / 'profile.yaml').write_text(profile, encoding='utf-8')
        words = [f'--rpc-port={self._rpc}', '--port=0', f'--profile={folder}/profile.yaml', *words]
        with self.log.open('w') as log:
            self.gateway, line = self._start('chiral', words, log)
        self.url = re.search(r'ws://\S+', line)[0]
        self.port = int(self.url.rpartition(':')[2])

    def kill(self):
        """End the simulation without a word."""
        self.simulation.kill()
        self.simulation.wait()
        self.simulation.stdout.close()

    def restart(self):
        """Start a simulation on the same port."""
        self.simulation = self._start_simulation()

    def stop(self):
        """End everything; return the exit code of the gateway."""
        self.gateway.terminate()
        code = self.gateway.wait(30)
        self.gateway.stdout.close()
        if self.simulation.returncode is None:
            self.kill()
        return code

    def logged(self):
        """Return what the gateway has logged since `forget_log`."""
        return self.log.read_bytes()[self._forgotten :].decode(errors='replace')

    def forget_log(self):
        self._forgotten = self.log.stat().st_size

    def resources(self):
        """Return memory (MiB), threads and open files of the gateway."""
        process = psutil.Process(self.gateway.pid)
        return process.memory_info().rss / 2**20, process.num_threads(), process.num_fds()

    def _start_simulation(self):
        words = [f'--world={self._world}', f'--rpc-port={self._rpc}', '--no-shm']
        words += [f'--{name}-port=0' for name in SIDE_PORTS]
        return self._start('server', words, subprocess.DEVNULL)[0]

    @staticmethod
    def _start(command, words, log):
        process, line = start_urlab(command, *words, stderr=log)
        assert 'ready' in line, line
        return process, line
