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


def export(values: ExportArguments) -> str:
    """
    Write the dataset; return its size, and what has written it.

    :raises PackageMissing: when mcap, pyarrow, or av (for images) is not installed.
    :raises UrlabError: when the episodes are inconsistent.
    """
    paths = sorted(Path(values.episodes).glob('*.mcap'))
    if not paths:
        raise BadArgument('--episodes', f'there is no MCAP file in {values.episodes!r}')
    try:
        from urlab_ros_bridge.evaluation import lerobot
        from urlab_ros_bridge.evaluation.episode_log import read_frames

        fps = values.fps or lerobot.fps_of(frame.time for frame in read_frames(paths[0]))
        writer = lerobot.choose_writer()(Path(values.out), fps, values.robot_type)
        counts = list(lerobot.write_dataset(writer, map(read_frames, paths), values.task))
    except ImportError as error:
        raise PackageMissing('chiral,eval,video', [error.name or str(error)]) from None
    return f'{len(counts)} episodes, {sum(counts)} frames, written {writer.label}'


def run(given: ParsedArguments[ExportArguments]) -> int:
    """Write the dataset and print its size."""
    print(f'{given.values.out}: {export(given.values)}')
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
