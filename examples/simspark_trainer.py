# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shoot the ball ten times with trainer commands, and print which shots were goals."""

import math
import random

from simspark_client import MonitorClient

with MonitorClient() as trainer:
    trainer.update()
    goal = float(trainer.view.environment['FieldLength'][0]) / 2
    for episode in range(10):
        angle = random.uniform(-0.5, 0.5)
        speed = 5 * math.cos(angle), 5 * math.sin(angle), 0
        trainer.command(
            ['playMode', 'PlayOn'],
            ['time', 0],
            ['ball', ['pos', goal - 3, 0, 0.05], ['vel', *speed]],
        )
        view = trainer.update()
        while view.time < 3 and view.play_mode == 'PlayOn':
            view = trainer.update()
        print(f'{episode}: {angle:+.2f} rad', 'goal' if view.play_mode == 'Goal_Left' else 'out')
