# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The program of docs/howto/trainer.md does what the page says."""

import contextlib
import io
from pathlib import Path
import re

from test.gateways.simspark.conftest import gateway_at

PAGE = Path(__file__).parents[3] / 'docs' / 'howto' / 'trainer.md'


def test_the_ball_is_shot_until_it_is_a_goal_or_out(soccer):
    (code,) = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.S)
    code = code.replace('range(10)', 'range(3)')
    shown = io.StringIO()
    with gateway_at(soccer, pace='free') as gateway, contextlib.redirect_stdout(shown):
        exec(code.replace('MonitorClient()', f'MonitorClient(port={gateway.monitor_port})'), {})
    results = [line.split()[-1] for line in shown.getvalue().splitlines()]
    assert len(results) == 3 and set(results) <= {'goal', 'out'} and 'goal' in results
