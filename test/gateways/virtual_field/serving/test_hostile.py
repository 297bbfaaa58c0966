# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Peers that send nonsense, hang or never read, beside a spectator who keeps its rate."""

import contextlib
from pathlib import Path
import signal
import statistics
import subprocess
import sys
import threading
import time

from lifelines import start_process
import pytest

from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from test.gateways.serving.raw_peer import PONG
from test.gateways.virtual_field.programs import gateway_program

TEXT = 0x81
TESTS = Path(__file__).parents[3]
# Python has a package of that name, too.
SENDER = (
    'import sys, test; test.__path__.insert(0, sys.argv[1]); '
    'from test.gateways.virtual_field.serving.nonsense import main; main(*map(int, sys.argv[2:]))'
)
HELLO = b'{"version": 1, "type": "hello", "payload": {"role": "spectator"}}'
# Of its rate without them; what is missing is noise of a machine that does other things too.
KEPT = 0.85


class Watcher:
    """A spectator that counts messages, in a thread of its own."""

    def __init__(self, port):
        self.count = 0
        self._link = opened(port)
        self._link.sendall(frame(HELLO, TEXT))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 60
        while self.count < 10:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _run(self):
        stream = self._link.makefile('rb', 1 << 20)
        try:
            while head := stream.read(2):
                size = head[1] & 0x7F
                if size > 125:
                    size = int.from_bytes(stream.read(2 if size == 126 else 8), 'big')
                stream.read(size)
                self.count += 1
        except (OSError, ValueError):
            return

    def rate(self, seconds):
        self._link.sendall(frame(b'', PONG))  # a sign of life
        before, began = self.count, time.monotonic()
        time.sleep(seconds)
        return (self.count - before) / (time.monotonic() - began)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):  # the gateway may have closed it
            self._link.shutdown(2)
        self._thread.join()
        self._link.close()


@pytest.fixture(scope='module')
def port(bimanual):
    """Return the port of a gateway that has an interpreter to itself."""
    with gateway_program(bimanual) as port:
        yield port


@pytest.mark.parametrize('count', [1000, pytest.param(100_000, marks=pytest.mark.long)])
def test_nonsense_costs_a_spectator_nothing(port, count):
    command = [sys.executable, '-c', SENDER, str(TESTS), str(port), str(count)]
    quiet, beset = [], []
    with Watcher(port) as watcher:
        sender = start_process(command, stdout=subprocess.PIPE, text=True)
        # In turns, so that whatever else the machine does concerns both.
        while sender.poll() is None or len(beset) < 2:
            beset.append(watcher.rate(0.4))
            sender.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            quiet.append(watcher.rate(0.4))
            sender.send_signal(signal.SIGCONT)
        read = sender.communicate(timeout=60)[0]
    assert int(read) == count
    assert statistics.median(beset) > KEPT * statistics.median(quiet), (beset, quiet)
