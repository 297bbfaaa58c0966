# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab keys`: create keys for encrypted connections between server and clients."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class KeysArguments(Arguments):
    """The arguments of `urlab keys`."""

    folder: str = key(text='Folder of the keys.', **FOLDER, positional=True)
    clients: str = key(
        '',
        'Comma-separated names of machines: each gets a folder in DIR with the keys to copy to '
        'it.',
        metavar='NAMES',
        longest=4096,
    )


def run(given: ParsedArguments[KeysArguments]) -> int:
    """
    Create missing keys and print their files.

    :raises KeysUnusable: when an existing key is damaged, or a name is invalid.
    :raises OSError: when the folder cannot be written.
    """
    from urlab_ros_bridge.transport.keys import make_keys

    values = given.values
    names = [name for name in map(str.strip, values.clients.split(',')) if name]
    made = make_keys(Path(values.folder), names)
    for path in made:
        print(f'created {path}')
    print(f'give --keys {values.folder} to the server, and to clients on this machine')
    for name in names:
        print(
            f'copy {Path(values.folder, name)} to {name}, and give it to clients there with --keys'
        )
    return 0


COMMAND = Command(
    name='keys',
    summary='Create keys for encrypted connections.',
    text='Create the keys for encrypted ZeroMQ connections (CURVE) between the step server and\n'
    'its clients. Existing keys are kept. A server started with --keys admits only clients whose\n'
    'public key is in DIR/clients: to revoke one, delete its key and restart the server.',
    section=KeysArguments,
    run=run,
    examples=(
        ('urlab keys my_keys', 'for the server and the clients of this machine'),
        (
            'urlab keys my_keys --clients laptop',
            'also for another machine: copy my_keys/laptop to it',
        ),
    ),
)
