# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from urlab_ros_bridge.cli.status import Figures
from urlab_ros_bridge.cli.status import Screen
from urlab_ros_bridge.cli.status import status_text

KEYS = ('mode', 'paused', 'speed', 'real_time_factor', 'tick_rate', 'cameras', 'world', 'sessions')
KEYS += ('messages_per_s', 'ticks_per_s', 'connected', 'state')
TEXT = st.text('\n\r\x1b[a')
SESSIONS = st.lists(st.dictionaries(st.sampled_from(('client', 'shared')), TEXT))
JSON = st.none() | st.booleans() | st.floats() | st.integers() | TEXT | SESSIONS


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_figures_give_one_line(values):
    text = status_text(Figures(values, 0.0), Figures(values, 0.0), 0.0)
    assert '\n' not in text and '\x1b' not in text


def test_a_terminal_has_the_status_below_the_log():
    stream = io.StringIO()
    screen = Screen(Console(file=stream, force_terminal=True, width=30))
    screen.show('first')
    screen.write_line('server', 'a log line [x]')
    screen.close()
    assert ' first ' in stream.getvalue().partition('a log line [x]')[2]
