# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab view` as a program on a screen: its image, its keys, and other servers and worlds."""

import os
import queue
import subprocess
import sys
import time

from bundled_server import ports_of
from bundled_server import running_server
from lifelines import run_process
from lifelines import start_process
from ports import free_ports
import pytest
from xvfb import MISSING
from xvfb import running_screen

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.viewer import viewer

URLAB = [sys.executable, '-m', 'urlab_ros_bridge.cli.main']


class StockClient(Client):
    """A client that takes the bundled server for a stock one, with one session."""

    def supports_shared_sessions(self):
        return False

    def absorb(self, reply):
        handshake = super().absorb(reply)
        handshake.extensions = frozenset()
        return handshake


class Glass:
    """A hidden window; it is closed after a second of simulated time."""

    def __init__(self, local, view):
        self.keys, self.times = queue.SimpleQueue(), []

    @property
    def is_open(self):
        return not self.times or self.times[-1] < self.times[0] + 1.0

    def show(self, seen):
        self.times.append(seen.time)

    def drag(self):
        return None

    def refresh(self, text=''):
        pass

    def close(self):
        pass


def test_on_a_stock_server_time_goes_on_though_its_session_is_taken(monkeypatch):
    monkeypatch.setattr(viewer, 'Window', Glass)
    events, lines = [], []
    with running_server(world='rover') as server:
        viewer.Viewer(StockClient(**ports_of(server)), events.append, lines.append).run()
    assert 'one session' in events[0] and 'showing rover' in events[1]
    assert lines[-1].startswith('rover | ')


def wait_until(condition, timeout=120.0):
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < deadline, 'it did not come'
        time.sleep(0.1)
    return found


def test_without_a_display_the_error_says_what_to_do():
    environ = {k: v for k, v in os.environ.items() if k not in ('DISPLAY', 'WAYLAND_DISPLAY')}
    for given, words in (({}, 'DISPLAY is not set'), ({'DISPLAY': ':4093'}, 'DISPLAY is :4093')):
        ended = run_process(
            [*URLAB, 'view'], env=environ | given, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode == 2 and words in ended.stderr and 'urlab webxr' in ended.stderr


@pytest.fixture
def ports():
    return free_ports('rpc', 'state', 'camera')


@pytest.fixture
def serve(ports):
    """Return a function that starts a server of a world on these ports."""
    started = []

    def start(world):
        words = [f'--{name}-port={port}' for name, port in ports.items()]
        started.append(
            start_process(
                [
                    *URLAB,
                    'server',
                    f'--world={world}',
                    '--control-port=0',
                    '--info-port=0',
                    *words,
                ],
                stdout=subprocess.DEVNULL,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait()


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f'not installed: {", ".join(MISSING)} (apt)')
def test_a_window_follows_worlds_and_servers_and_takes_keys(ports, serve, tmp_path):
    log = tmp_path / 'log'
    with running_screen() as screen, log.open('w') as output:
        server = serve('rover')
        words = [f'--rpc-port={ports["rpc"]}', f'--state-port={ports["state"]}']
        view = start_process(
            [*URLAB, 'view', *words], env=screen.environ, stdout=output, stderr=output
        )
        try:
            (window,) = wait_until(lambda: screen.do('search', '--name', 'MuJoCo'))
            wait_until(lambda: screen.picture()[100:400, 100:700].std() > 10)
            assert 'showing rover' in log.read_text()
            with Client(rpc_port=ports['rpc'], shared=True) as client:
                screen.do('windowfocus', window, 'key', 'space')
                wait_until(lambda: client.status().paused)
                paused = screen.picture().copy()
                step = client.status().step
                screen.do('key', 'Right')
                wait_until(lambda: client.status().step == step + 1)
                # Another robot in front of it: the world changes, and the window with it.
                client.spawn_entity('second', file='quadruped.yaml', pos=(1.0, 0.0, 0.0))
                wait_until(lambda: log.read_text().count('showing rover') == 2)
                wait_until(lambda: (screen.picture() != paused).mean() > 0.01)
            server.kill()
            wait_until(lambda: f'waiting for a simulation at tcp://127.0.0.1:{ports["rpc"]}'
                       in log.read_text())  # fmt: skip
            assert view.poll() is None
            serve('bimanual')
            wait_until(lambda: 'showing bimanual' in log.read_text())
            (window,) = wait_until(lambda: screen.do('search', '--name', 'MuJoCo'))
            wait_until(
                lambda: screen.do('windowfocus', window, 'key', 'ctrl+q') or view.poll() == 0
            )
        finally:
            view.terminate()
            view.wait()
