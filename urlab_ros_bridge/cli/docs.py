# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Write the generated pages of docs/, and config/bridge.yaml, from the tables in the code.

`python -m urlab_ros_bridge.cli.docs` writes them; with `--check` it writes nothing and fails when
one is out of date.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path
import sys

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.commands import COMMANDS
from urlab_ros_bridge.cli.nav2 import NAV2_ARGUMENTS
from urlab_ros_bridge.cli.parser import Command
from urlab_ros_bridge.cli.processes import Process
from urlab_ros_bridge.cli.processes import PROCESSES
from urlab_ros_bridge.ros.docs import parameters_markdown
from urlab_ros_bridge.ros.docs import parameters_yaml
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.rows import ROW_LAYOUTS

ROOT = Path(__file__).resolve().parents[2]
NOTE = '<!-- Made by `make docs` from the tables in the code: change those, not this page. -->'


def cell(text: str) -> str:
    """Return a text that is safe in a table cell."""
    return text.replace('|', '\\|').replace('\n', ' ')


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(map(cell, line)) + ' |' for line in lines) + '\n'


def code(text: str) -> str:
    """Return a text as code, nothing for nothing."""
    return f'`{text}`' if text else ''


def argument_row(argument: Argument) -> tuple[str, str, str]:
    """Return the cells of one argument: option, default, meaning."""
    option = argument.flag
    if not argument.is_switch:
        option += f' {argument.placeholder}'
    return code(option), code(argument.shown_default()), argument.text


def launch_row(argument: Argument) -> tuple[str, str, str]:
    """Return the cells of one launch argument: name, default, meaning."""
    _, default, text = argument_row(argument)
    return code(f'{argument.name}:={argument.placeholder}'), default, text


def command_section(command: Command) -> str:
    """Return the section of one sub-command."""
    examples = '\n'.join(f'    {line}' for line in command.example_lines())
    arguments = table(('Option', 'Default', 'Meaning'), map(argument_row, command.arguments))
    ros = ''
    if command.takes_ros_args:
        ros = '\nWhat follows `--ros-args` goes to the ROS node of the bridge as it is.\n'
    text = ' '.join(command.text.split())
    return f'## urlab {command.name}\n\n{text}\n\n{examples}\n\n{arguments}{ros}'


def process_row(process: Process) -> tuple[str, str, str, str]:
    """Return the cells of one process: name, program, when it starts, what its end means."""
    program = f'ros2 run {process.package} {process.executable}'
    start = f'when the {process.starts_after} is ready' if process.starts_after else 'at once'
    if process.only_if:
        start += f', if `{process.only_if}`' + (
            f' and not `{process.unless}`' if process.unless else ''
        )
    end = 'everything ends, unless `use_respawn`' if process.vital else 'the others go on'
    return process.name, code(program), start, end


def commands_page() -> str:
    """Return docs/commands.md."""
    processes = table(
        ('Process', 'Program', 'Starts', 'When it ends'), map(process_row, PROCESSES)
    )
    sections = '\n'.join(command_section(command) for command in COMMANDS.values())
    own = [argument for argument in NAV2_ARGUMENTS if argument not in UP_ARGUMENTS]
    nav2 = table(('Argument', 'Default', 'Meaning'), map(launch_row, own))
    return f"""\
{NOTE}

# Commands

Every command has `--help` and `--version`. A switch such as `--paused` may stand alone or take
`true` or `false`. Exit codes: 0 when all went well or a signal ended it, 1 when a check or a child
process failed, 2 for a mistake in the arguments or the set-up, which one line explains.

{sections}
## Launch files

`ros2 launch urlab_ros_bridge sim.launch.py` takes the arguments of `urlab up`, written
`step_mode:=live` with underscores, and starts the same processes:

{processes}
`ros2 launch urlab_ros_bridge nav2.launch.py` starts Nav2 too ([how to](howto/nav2.md)). It
takes the arguments of `urlab up` but for namespace and Chiral, and has its own:

{nav2}"""


def op_row(op: Op) -> tuple[str, str, str, str, str]:
    """Return the cells of one op."""
    optional = ' '.join(op.optional)
    name = code(op.name) + (' (extension)' if op.extension else '')
    required = ' '.join(op.required)
    return name, op.category, code(required), code(optional), code(' '.join(op.reply))


def protocol_page() -> str:
    """Return docs/protocol.md."""
    heads = ('Op', 'Category', 'Required', 'Optional', 'Reply')
    namespaces = dict.fromkeys(op.namespace for op in OPS.values())
    sections = '\n'.join(
        f'### {namespace or "main loop"}\n\n'
        + table(heads, (op_row(op) for op in OPS.values() if op.namespace == namespace))
        for namespace in namespaces
    )
    rows = table(
        ('Row', 'Topic', 'Payload (little-endian)', 'Source'),
        ((row.kind, code(row.pattern), row.layout, row.source) for row in ROW_LAYOUTS),
    )
    errors = table(('Code', 'Meaning'), ((code(c), text) for c, text in ERROR_CODES.items()))
    return f"""\
{NOTE}

# Protocol

The URLab protocol as this project knows it. Requests are maps with the field `op`; `hello` opens a
session and `meta` lists the ops, both before any session. A reply has the op's name with `_ok`, or
is `error` with `code` and `message`. "Extension" marks what a stock server does not know and a
stock client does not need.

## Ops

{sections}
## Rows of the state stream

A message has two parts, topic and payload.

{rows}
## Error codes

{errors}"""


def parameters_page() -> str:
    """Return docs/parameters.md."""
    return f"""\
{NOTE}

# Parameters of the bridge

Set them in a file (`params_file:=my.yaml`; `config/bridge.yaml` lists all with their defaults), on
the command line (`urlab bridge --ros-args -p clock_rate:=50.0`), and, where "Live" says so, in the
running node (`ros2 param set`). A change that is out of range is refused as a whole.

{parameters_markdown()}"""


def interfaces_page() -> str:
    """Return docs/interfaces.md; its tables need ROS."""
    from urlab_ros_bridge.ros.interface_docs import interfaces_markdown

    return f'{NOTE}\n\n{interfaces_markdown()}'


PAGES: dict[str, Callable[[], str]] = {
    'docs/commands.md': commands_page,
    'docs/protocol.md': protocol_page,
    'docs/parameters.md': parameters_page,
    'docs/interfaces.md': interfaces_page,
    'config/bridge.yaml': parameters_yaml,
}


def outdated(root: Path = ROOT) -> list[str]:
    """Return the names of the pages whose files differ from what the tables give."""
    return [
        name
        for name, page in PAGES.items()
        if not (root / name).is_file() or (root / name).read_text(encoding='utf-8') != page()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages that are out of date, or with `--check` only name them."""
    parser = argparse.ArgumentParser(prog='urlab_ros_bridge.cli.docs', description=__doc__)
    parser.add_argument('--check', action='store_true', help='write nothing; fail when outdated')
    check = parser.parse_args(argv).check
    names = outdated()
    for name in names:
        if not check:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(PAGES[name](), encoding='utf-8')
        print(f'{name}: {"out of date, run make docs" if check else "written"}')
    return int(check and bool(names))


if __name__ == '__main__':
    sys.exit(main())
