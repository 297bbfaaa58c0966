# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of the gateways and their tools, as tables like those of `arguments`."""

from __future__ import annotations

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import CHIRAL
from urlab_ros_bridge.cli.arguments import HOST
from urlab_ros_bridge.cli.arguments import LOG_LEVEL
from urlab_ros_bridge.cli.arguments import PORTS

CHIRAL_ARGUMENTS = (
    HOST,
    PORTS[0],
    Argument(
        'bind',
        'Address to listen on. Anything but loopback wants --token.',
        '127.0.0.1',
        metavar='ADDR',
    ),
    Argument('port', 'TCP port of the WebSocket.', 8765, metavar='PORT'),
    Argument('profile', CHIRAL[2].text, metavar='FILE'),
    Argument(
        'pace',
        'Real time, or one control period for each action (lockstep); default: as '
        'the profile says.',
        'profile',
        ('profile', 'real_time', 'lockstep'),
    ),
    Argument('token', 'What clients must show: ?token=... or Authorization: Bearer ...'),
    Argument('viewers', 'Let clients on the path /view watch beside the driver.', False),
    Argument('legacy', 'Answer the older dialect too, in which an action is a step.', False),
    Argument('timeout', 'Seconds to wait for the simulation.', 10.0, metavar='SECONDS'),
    LOG_LEVEL,
)
EVAL_ARGUMENTS = (
    Argument(
        'policy',
        'Policy to run: it is called with an observation and returns an action; a '
        'class is made once.',
        metavar='MODULE:NAME',
    ),
    Argument('url', 'Chiral server.', 'ws://127.0.0.1:8765'),
    Argument('episodes', 'Number of episodes.', 10, metavar='N'),
    Argument('max_steps', 'Actions after which an episode ends.', 300, metavar='N'),
    Argument('seed', 'Seed of the first episode; the next ones count up.', 0, metavar='N'),
    Argument(
        'record',
        'Folder for one MCAP file an episode: pictures, streams, actions, rewards. '
        'It is made when it is not there.',
        metavar='DIR',
    ),
    Argument(
        'video',
        'Folder for one video an episode: all cameras side by side (AVI, Motion JPEG). It is made '
        'when it is not there.',
        metavar='DIR',
    ),
    Argument('table', 'CSV file for the table of the episodes.', metavar='FILE'),
    Argument('token', 'Token of the server.'),
    Argument('timeout', 'Seconds to wait for an answer.', 30.0, metavar='SECONDS'),
)
