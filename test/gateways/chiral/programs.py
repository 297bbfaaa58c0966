# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation and its Chiral gateway as programs that can be killed and restarted."""

import re
import subprocess

from ports import free_port
from urlab_programs import ANY_PORTS
from urlab_programs import start_urlab


class Gateway:
    """
    A gateway as a program, without cameras.

    :ivar url: of the gateway; `log` is the file that it logs to.
    """

    def __init__(self, folder, rpc_port, *words):
        self._forgotten = 0
        self.log = folder / 'gateway.log'
        (folder / 'profile.yaml').write_text('cameras: []\n', encoding='utf-8')
        words = [f'--rpc-port={rpc_port}', '--port=0', f'--profile={folder}/profile.yaml', *words]
        with self.log.open('w') as log:
            self.process, line = start_urlab('chiral', *words, stderr=log)
        self.url = re.search(r'ws://\S+', line)[0]
        self.port = int(self.url.rpartition(':')[2])

    def stop(self):
        """End it; return its exit code."""
        self.process.terminate()
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    def logged(self):
        """Return what the gateway has logged since `forget_log`."""
        return self.log.read_bytes()[self._forgotten :].decode(errors='replace')

    def forget_log(self):
        self._forgotten = self.log.stat().st_size


class Programs(Gateway):
    """A simulation, as a program as well, and its gateway."""

    def __init__(self, folder, *words):
        self._rpc = free_port()
        self.restart()
        super().__init__(folder, self._rpc, *words)

    def kill(self):
        """End the simulation without a word."""
        self.simulation.kill()
        self.simulation.wait()
        self.simulation.stdout.close()

    def restart(self):
        """Start a simulation on the same port."""
        words = ['--world=quadruped', *ANY_PORTS, f'--rpc-port={self._rpc}', '--no-shm']
        self.simulation, line = start_urlab('server', *words, stderr=subprocess.DEVNULL)
        assert 'ready' in line, line

    def stop(self):
        """End everything; return the exit code of the gateway."""
        code = super().stop()
        if self.simulation.returncode is None:
            self.kill()
        return code
