# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab view` as a program on a screen: its image, its keys, and other servers and worlds."""

from contextlib import ExitStack
import os
import signal
import sys

from lifelines import run_process
from lifelines import start_process
from ports import free_ports
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program
from waiting import wait_until
from xvfb import MISSING
from xvfb import running_screen

from urlab_ros_bridge.client import Client

URLAB = [sys.executable, '-m', 'urlab_ros_bridge.cli.main']


def test_without_a_display_the_error_says_what_to_do():
    environ = {**os.environ, 'DISPLAY': ':4093', 'WAYLAND_DISPLAY': ''}
    ended = run_process([*URLAB, 'view'], env=environ, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2 and 'urlab webxr' in ended.stderr


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f'not installed: {", ".join(MISSING)} (apt)')
def test_a_window_follows_worlds_and_servers_and_takes_keys(tmp_path):
    log = tmp_path / 'log'
    ports = [f'--{name}-port={port}' for name, port in free_ports('rpc', 'state').items()]
    words = (*ANY_PORTS, *ports, '--cameras=off')  # the last one of a name counts

    def says(text):
        wait_until(lambda: text in log.read_text())

    with running_screen() as screen, log.open('w') as output, ExitStack() as server:
        _, line = server.enter_context(program('server', '--world=rover', *words))
        view = start_process(
            [*URLAB, 'view', *ports], env=screen.environ, stdout=output, stderr=output
        )
        try:
            (window,) = wait_until(lambda: screen.do('search', '--name', 'MuJoCo'))
            wait_until(lambda: screen.picture()[100:300, 100:500].std() > 10)
            says('showing rover')
            with Client(rpc_port=port_of(line), shared=True) as client:
                screen.do('windowfocus', window, 'key', 'space')
                wait_until(lambda: client.status().paused)
                step = client.status().step
                screen.do('key', 'Right')
                wait_until(lambda: client.status().step == step + 1)
            server.close()
            says('waiting for a simulation')
            assert view.poll() is None
            view.send_signal(signal.SIGSTOP)  # it would draw all the time
            server.enter_context(program('server', '--world=bimanual', *words))
            view.send_signal(signal.SIGCONT)
            says('showing bimanual')
            (window,) = wait_until(lambda: screen.do('search', '--name', 'MuJoCo'))
            wait_until(
                lambda: screen.do('windowfocus', window, 'key', 'ctrl+q') or view.poll() == 0
            )
        finally:
            view.kill()
            view.wait()
