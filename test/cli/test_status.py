# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from urlab_ros_bridge.cli.status import Figures
from urlab_ros_bridge.cli.status import OWN_NAME
from urlab_ros_bridge.cli.status import Screen
from urlab_ros_bridge.cli.status import status_text

SERVER = {
    'mode': 'live',
    'paused': False,
    'speed': 100.0,
    'real_time_factor': 0.998,
    'tick_rate': 499.6,
    'cameras': 2,
    'world': 'rover',
    'sessions': [
        {'client': 'urlab_ros_bridge', 'shared': True},
        {'client': 'policy', 'shared': False},
        {'client': 'urlab_ros_bridge', 'shared': True},
        {'client': OWN_NAME, 'shared': True},
    ],
}
BRIDGE = {
    'messages_per_s': 4210.4,
    'ticks_per_s': 500,
    'connected': True,
    'state': 'connected: live',
}
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
) | st.text('\n\r\x1b[a')


def test_the_line_shows_all_figures_and_leaves_out_our_own_session():
    text = status_text(Figures(SERVER, 10.0), Figures(BRIDGE, 10.0), 10.5)
    for part in (
        'rover: live',
        '1.00x real time',
        '500 ticks/s',
        '2 cameras',
        '3 sessions (policy, 2 urlab_ros_bridge)',
        '4210 ROS messages/s',
    ):
        assert part in text
    assert OWN_NAME not in text


@given(st.dictionaries(st.sampled_from([*SERVER, *BRIDGE]), JSON))
def test_any_figures_give_one_line(values):
    text = status_text(Figures(values, 0.0), Figures(values, 0.0), 0.0)
    assert '\n' not in text and '\x1b' not in text


def test_a_terminal_has_the_status_below_the_log():
    stream = io.StringIO()
    screen = Screen(Console(file=stream, force_terminal=True, width=30, highlight=False))
    screen.show('first')
    drawn = stream.tell()
    screen.show('first')
    assert stream.tell() == drawn  # unchanged: nothing is drawn
    screen.write_line('server', 'a log line that is longer than the terminal is wide [x]')
    screen.show('rover: live | 1.00x real time | 500 ticks/s')
    screen.close()
    text = stream.getvalue()
    # The terminal itself wraps the log; the status is drawn again below it.
    line = 'a log line that is longer than the terminal is wide [x]\n'
    assert line in text and ' first ' in text.partition(line)[2]
    assert 'ticks/s' in text  # in its second row
    assert text.endswith('\x1b[1A\x1b[2K') and '\x1b[?25h' in text  # removed, cursor shown


def test_without_a_terminal_a_plain_line_comes_every_five_seconds():
    stream = io.StringIO()
    now = [0.0]
    screen = Screen(Console(file=stream, width=30), clock=lambda: now[0])
    long = 'x' * 100
    for time in (0.0, 1.0, 4.9, 5.0, 9.9, 10.1):
        now[0] = time
        screen.show(f'{time:g} {long}')
    screen.write_line('server', 'a log line [x]')
    screen.close()
    assert stream.getvalue().splitlines() == [
        *(f'status {time} {long}' for time in ('0', '5', '10.1')), 'server a log line [x]'
    ]  # fmt: skip
