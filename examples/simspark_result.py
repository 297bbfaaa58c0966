# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Wait for the end of a SimSpark game and write teams and score to result.json."""

import json
from pathlib import Path

from simspark_client import MonitorClient

with MonitorClient(timeout=60) as monitor:
    view = monitor.update()
    while view.play_mode != 'GameOver':
        view = monitor.update()
    teams = [view.game.get(f'team_{side}', ['?'])[0] for side in ('left', 'right')]
    Path('result.json').write_text(json.dumps({'teams': teams, 'score': view.score}))
    print(teams, view.score)
