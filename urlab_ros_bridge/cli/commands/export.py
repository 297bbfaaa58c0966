# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab export`: convert recorded episodes to datasets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class ExportArguments(Arguments):
    """The arguments of `urlab export`."""

    format: str = key(
        text='Format to write: lerobot.', choices=('lerobot',), metavar='FORMAT', positional=True
    )
    episodes: str = key(
        'runs',
        'Folder with the MCAP files of urlab eval --record.',
        **FOLDER,
    )
    out: str = key(
        text='Folder for the dataset; must be empty or not exist.',
        **FOLDER,
    )
    task: str = key('', 'Description of the task.', longest=4096)
    robot_type: str = key('', 'Type of the robot.', metavar='NAME')
    fps: int = key(0, 'Frames per second; 0: as recorded, rounded.', metavar='N', low=0, high=1000)


def export(values: ExportArguments) -> tuple[int, int]:
    """
    Write the dataset; return the numbers of episodes and frames.

    :raises PackageMissing: when mcap, pyarrow, or av (for images) is not installed.
    :raises UrlabError: when the episodes are inconsistent.
    """
    paths = sorted(Path(values.episodes).glob('*.mcap'))
    if not paths:
        raise BadArgument('--episodes', f'there is no MCAP file in {values.episodes!r}')
    try:
        from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import read_frames
        from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import fps_of
        from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import write_dataset

        fps = values.fps or fps_of(frame.time for frame in read_frames(paths[0]))
        counts = list(
            write_dataset(
                Path(values.out), map(read_frames, paths), values.task, fps, values.robot_type
            )
        )
    except ImportError as error:
        raise PackageMissing('chiral,eval,video', error) from None
    return len(counts), sum(counts)


def run(given: ParsedArguments[ExportArguments]) -> int:
    """Write the dataset and print its size."""
    episodes, frames = export(given.values)
    print(f'{given.values.out}: {episodes} episodes, {frames} frames')
    return 0


COMMAND = Command(
    name='export',
    summary='Convert recorded episodes into a training dataset.',
    text='Convert the MCAP files of urlab eval --record into a LeRobotDataset v3.0, with one row\n'
    'per control period and one video per camera.',
    section=ExportArguments,
    run=run,
    examples=(('urlab export lerobot --episodes runs --out dataset', 'recordings of urlab eval'),),
)
