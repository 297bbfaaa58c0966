# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Generate pages and tables of docs/, and config/bridge.yaml, from the tables in the code.

`python -m urlab_ros_bridge.cli.docs` writes them; with `--check` it writes nothing and fails when
one is out of date.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.transport.router import MAX_CALLS
from urlab_ros_bridge.transport.router import MAX_CALLS_OF_ONE
from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH
from urlab_ros_bridge.wire.encoding.limits import MAX_ITEMS
from urlab_ros_bridge.wire.encoding.limits import MAX_JSON_CONTAINERS
from urlab_ros_bridge.wire.encoding.limits import MAX_JSON_VALUES
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_ITEMS
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import NAVIGATION_SECONDS
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.rows import ROW_LAYOUTS

ROOT = Path(__file__).resolve().parents[3]
GENERATED = '<!-- What follows is made by `make docs` from the tables in the code. -->'
SENSOR_TABLE = '<!-- The table is made by `make docs` from ros/plan/sensor_table.py. -->'
NOTE = '<!-- Made by `make docs` from the tables in the code: change those, not this page. -->'


def cell(text: str) -> str:
    """Return a text that is safe in a table cell."""
    return text.replace('|', '\\|').replace('\n', ' ')


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    first, *others = ('| ' + ' | '.join(map(cell, line)) + ' |\n' for line in (heads, *rows))
    return f'{first}{"|---" * len(heads)}|\n{"".join(others)}'


def code(text: str) -> str:
    """Return a text as code, nothing for nothing."""
    return f'`{text}`' if text else ''


def written(page: str, mark: str) -> str:
    """Return what is written by hand in a page: everything up to a mark, and the mark."""
    return (ROOT / page).read_text(encoding='utf-8').partition(mark)[0] + mark + '\n'


def command_row(command: Command) -> tuple[str, str, str]:
    """Return the cells of one sub-command: name, purpose, first example."""
    purpose = ' '.join(command.text.split()).partition('. ')[0].partition(': ')[0].rstrip('.')
    example = next(iter(command.example_lines()), '').partition('  #')[0].rstrip()
    name = f'urlab {command.name}'
    return code(name), purpose, code(example if example != name else '')


def process_row(process: Process) -> tuple[str, str, str, str]:
    """Return the cells of one process: name, program, when it starts, what its end means."""
    program = f'ros2 run {process.package} {process.executable}'
    if process.command:
        program = f'urlab {process.command}'
    start = f'when the {process.starts_after} is ready' if process.starts_after else 'immediately'
    if process.only_if:
        start += f', if `{process.only_if}`' + (
            f' and not `{process.unless}`' if process.unless else ''
        )
    end = 'everything stops, unless `use_respawn`' if process.vital else 'the others continue'
    return process.name, code(program), start, end


def commands_page() -> str:
    """Return docs/commands.md; options are left to --help."""
    processes = table(
        ('Process', 'Program', 'Starts', 'When it ends'), map(process_row, PROCESSES)
    )
    commands = table(('Command', 'Purpose', 'Example'), map(command_row, all_commands().values()))
    return f"""\
{NOTE}

# Commands

`urlab COMMAND --help` lists the options of a command, with their defaults and more examples.

{commands}
A switch such as `--paused` can be given alone or with `true` or `false`. To run several
simulations on one machine, move all ports of the second one with `--port-offset 10`, and give
each its own `ROS_DOMAIN_ID`.

| Exit code | Meaning |
|---|---|
| 0 | success, or ended by a signal |
| 1 | a check or a child process failed |
| 2 | a mistake in the arguments or the set-up; one line explains it |
| 130 | Ctrl-C before a program is ready, or during a command that ends by itself |

## Launch files

`ros2 launch urlab_ros_bridge sim.launch.py` takes the arguments of `urlab up`, written as
`step_mode:=live` in place of `--step-mode live` (`--show-args` lists them), and starts the same
processes; `nav2.launch.py` also starts [Nav2](howto/nav2.md). All arguments are checked before
anything starts. If a process that the others need ends on its own, launch ends with an error and
exit code 1. When launch ends, even after `kill -9`, the processes end too:

{processes}"""


def op_row(op: Op, usual: str) -> tuple[str, str, str, str]:
    """Return the cells of one op in a namespace whose ops usually have this category."""
    optional = ' '.join(op.optional)
    note = ' (extension)' if op.extension else f' (since {op.since})' if op.since else ''
    name = code(op.name) + note + (f', `{op.category}`' if op.category != usual else '')
    required = ' '.join(op.required)
    return name, code(required), code(optional), code(' '.join(op.reply))


def ops_section(namespace: str) -> str:
    """Return the section of a namespace."""
    ops = [op for op in OPS.values() if op.namespace == namespace]
    usual = ops[0].category
    rows = (op_row(op, usual) for op in ops)
    return (
        f'### {namespace or "main loop"}\n\n'
        f'Category `{usual}`, unless noted.\n\n'
        f'{table(("Op", "Required", "Optional", "Reply"), rows)}'
    )


def limits_table() -> str:
    """Return the table of what a frame may hold."""
    rows = (
        ('bytes', MAX_REQUEST_BYTES, MAX_REPLY_BYTES),
        ('items of one list or map', MAX_ITEMS, MAX_REPLY_ITEMS),
        ('commas and colons of JSON (including those in strings)', MAX_JSON_VALUES, ''),
        ('opening brackets of JSON (including those in strings)', MAX_JSON_CONTAINERS, ''),
        ('nesting depth of maps and lists', MAX_DEPTH, MAX_DEPTH),
    )
    return table(
        ('Limit', 'Request', 'Reply'),
        ((text, f'{request:,}', f'{reply:,}' if reply else '') for text, request, reply in rows),
    )


def protocol_page() -> str:
    """Return docs/protocol.md: written by hand, but for the tables."""
    namespaces = dict.fromkeys(op.namespace for op in OPS.values())
    sections = '\n'.join(map(ops_section, namespaces))
    rows = table(
        ('Row', 'Topic', 'Payload (little-endian)', 'Source'),
        ((row.kind, code(row.pattern), row.layout, row.source) for row in ROW_LAYOUTS),
    )
    errors = table(('Code', 'Meaning'), ((code(c), text) for c, text in ERROR_CODES.items()))
    return f"""\
{written('docs/protocol.md', GENERATED)}
## Limits

A request beyond these limits is answered with `bad_request`; a larger one than that closes its
connection. Models that are larger are sent as files (`spawn_entity` with `file`).

{limits_table()}
At most {MAX_CALLS_OF_ONE} calls of one session and {MAX_CALLS} of all may run or wait; further
ones are answered with `not_ready`. Calls that pause, stop or steer (`set_paused`, `set_mode`,
`set_twist`, `set_control_source`, `replay_stop`, `recording_stop`) go before all others, also
within a step of many sub-steps, and engaging the e-stop (`e_stop`) waits for none; of the others
the session comes next whose last turn was longest ago. The client of this project applies the
right-hand column to replies and raises `ProtocolError` beyond it.

`set_navigation_target` moves nothing: `status` lists the target, whose `kind` is goal or
initial_pose (`x`, `y` in m, `yaw` in rad, in the world frame), for {NAVIGATION_SECONDS:g} s with
an `id` that grows, and the ROS bridge publishes it once.

## Ops

{sections}
## Rows of the state stream

A message has two parts, topic and payload.

{rows}
## Error codes

{errors}"""


def parameters_page() -> str:
    """Return docs/parameters.md; the features that it is made of need ROS."""
    from urlab_ros_bridge.cli.docs.parameters import parameters_markdown
    from urlab_ros_bridge.ros.program.features import Settings

    return f"""\
{NOTE}

# Parameters of the bridge

Set them in a file (`params_file:=my.yaml`; `config/bridge.yaml` lists all with their defaults), on
the command line (`urlab bridge --ros-args -p clock_rate:=50.0`), and, where "Live" says so, in the
running node (`ros2 param set`). A change that is out of range is refused as a whole. The default
shows the type: `1` is an integer, `1.0` a double.

{parameters_markdown(Settings)}"""


def interfaces_page() -> str:
    """Return docs/interfaces.md; its tables need ROS."""
    from urlab_ros_bridge.cli.docs.interfaces import interfaces_markdown
    from urlab_ros_bridge.ros.program.features import FEATURES

    return f'{NOTE}\n\n{interfaces_markdown(FEATURES)}'


def bridge_page() -> str:
    """Return docs/bridge.md: written by hand, but for the table at its end."""
    from urlab_ros_bridge.cli.docs.sensors import sensors_markdown

    return f'{written("docs/bridge.md", SENSOR_TABLE)}\n{sensors_markdown()}'


def parameters_file() -> str:
    """Return config/bridge.yaml; the features that it is made of need ROS."""
    from urlab_ros_bridge.cli.docs.parameters import parameters_yaml
    from urlab_ros_bridge.ros.program.features import Settings

    return parameters_yaml(Settings)


PAGES: dict[str, Callable[[], str]] = {
    'docs/commands.md': commands_page,
    'docs/protocol.md': protocol_page,
    'docs/parameters.md': parameters_page,
    'docs/interfaces.md': interfaces_page,
    'docs/bridge.md': bridge_page,
    'config/bridge.yaml': parameters_file,
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
