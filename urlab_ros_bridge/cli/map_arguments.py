# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of `urlab map`."""

from __future__ import annotations

from dataclasses import replace

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import WORLD

_NAMED = {argument.name: argument for argument in WORLD}

MAP_ARGUMENTS = (
    replace(_NAMED['world'], text='Bundled world to draw.'),
    replace(_NAMED['model'], text='MJCF file to draw instead, or the YAML file of a world.'),
    _NAMED['prefix'],
    Argument(
        'output',
        'Where to write: FILE.pgm and FILE.yaml; default: the name of the world, here.',
        metavar='FILE',
    ),
    Argument(
        'height',
        'What to draw: "scanner" what is at the height of the scanner, "robot" everything that '
        'the robot would bump into, a height (m), or a span of heights (0.1:0.6). auto is scanner '
        'for a robot that has one, else robot.',
        'auto',
        metavar='auto|scanner|robot|M|FROM:TO',
    ),
    Argument('movable', 'Draw what can move too, where it is at the start; never robots.', False),
    Argument('resolution', 'Side of a cell (m).', 0.05, metavar='M'),
    Argument(
        'margin', 'Width of the border around everything that is drawn (m).', 1.0, metavar='M'
    ),
    Argument(
        'region',
        'Corners of the map instead: smallest x and y, then largest (m): --region=-5,-4,5,4.',
        metavar='X0,Y0,X1,Y1',
    ),
)
