# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands, requests, messages and Python of every page are what they say."""

import ast
from importlib import import_module
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import textwrap

from lifelines import run_process
import pytest
import yaml

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.cli.processes.nav2 import Nav2Arguments

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
FENCED = re.compile(r'^```(?:bash|sh|console)?\n(.*?)^```', re.S | re.M)
PYTHON = re.compile(r'^( *)```python\n(.*?)^ *```', re.S | re.M)
COMMAND = re.compile(r'(?:[A-Z_]+=\S+ )*((?:urlab|ros2|make) .*)')


def commands(page):
    """Return the command lines of a page, continued lines joined, without comments and pipes."""
    text = page.read_text().replace('\\\n', ' ')
    lines = re.findall(r'^    (.*)', text, re.M) + ''.join(FENCED.findall(text)).splitlines()
    found = []
    rest = iter(lines)
    for line in rest:
        command = COMMAND.fullmatch(line.strip().removeprefix('$ '))
        if command:
            words = split(command[1], rest)
            ends = [words.index(end) for end in ('|', '&', '>', '&&') if end in words]
            found.append(words[: min(ends, default=len(words))])
    return found


def split(line, following):
    """Return the words of a command, whose last one may be quoted over several lines."""
    while True:
        try:
            return shlex.split(line, comments=True)
        except ValueError:
            line += f' {next(following).strip()}'


LINES = [(page.stem, words) for page in PAGES for words in commands(page)]
OURS = [line for line in LINES if line[1][0] == 'urlab' and line[1][1] != 'COMMAND']
# Commands that write files or print, and end.
ALONE = [words for _, words in OURS if words[1] in ('keys', 'soccer') or '--list' in words]
ROS = [words for _, words in LINES if words[0] == 'ros2']


@pytest.mark.skipif(shutil.which('ruff') is None, reason='needs ruff')
def test_snippets_of_the_page_on_tests_can_be_copied():
    for _, text in PYTHON.findall((ROOT / 'docs' / 'testing.md').read_text()):
        words = ['ruff', 'check', '-q', '--isolated', '--select=F821', '-']
        done = run_process(words, input=text, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    'page', [page for page in PAGES if PYTHON.search(page.read_text())], ids=lambda page: page.stem
)
def test_imports_of_a_page_are_there(page):
    for _, text in PYTHON.findall(page.read_text()):
        for node in ast.walk(ast.parse(textwrap.dedent(text))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith('urlab_ros_bridge'):
                if node.module.startswith('urlab_ros_bridge.ros'):
                    pytest.importorskip('rclpy')
                module = import_module(node.module)
                for name in node.names:
                    if name.name in getattr(module, '__all__', ()):
                        continue
                    if not hasattr(module, name.name):  # then it is a module
                        import_module(f'{node.module}.{name.name}')


@pytest.mark.parametrize(('page', 'words'), OURS, ids=lambda value: ' '.join(value))
def test_commands_parse(page, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word in words:  # the files that the page speaks of
        if word.endswith(('.xml', '.yaml', '.pem', '.urdf', '.xacro', '.sdf')):
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).write_text('/**: {ros__parameters: {arm: {type: a/Controller}}}')
    given = parse(find_command(words[1]), words[2:])
    assert all(':=' in word or word.startswith('-') for word in given.ros)


@pytest.mark.parametrize('words', ALONE, ids=' '.join)
def test_commands_of_the_page_run(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words[1:]) == 0


def test_launch_arguments_are_those_of_the_launch_files():
    sections = {'sim.launch.py': SuiteArguments, 'nav2.launch.py': Nav2Arguments}
    lines = [words for words in ROS if words[1:3] == ['launch', 'urlab_ros_bridge']]
    assert lines
    for words in lines:
        known = arguments_of(sections[words[3]])
        pairs = (word.partition(':=')[::2] for word in words[4:] if word != '--show-args')
        texts = {name: '' if known[name].is_path else text for name, text in pairs}
        read_arguments(sections[words[3]], texts, Spelling.LAUNCH)


def fields_fit(kind, values):
    """Return whether a mapping from YAML names fields of a message type only, nested ones too."""
    from test.config.running_world import interface

    types = kind.get_fields_and_field_types()
    for name, value in values.items():
        if name not in types:
            return False
        inner = types[name].removeprefix('sequence<').partition('>')[0].partition('[')[0]
        if '/' in inner:
            package, _, short = inner.partition('/')
            boxes = value if isinstance(value, list) else [value]
            nested = interface(f'{package}/msg/{short}')
            if not all(fields_fit(nested, box) for box in boxes if isinstance(box, dict)):
                return False
    return True


def ros_lines(verb, what):
    """Return (type, fields) of `ros2 VERB WHAT NAME TYPE FIELDS`."""
    found = []
    for words in ROS:
        if words[1:3] == [verb, what]:
            plain = []
            rest = iter(words[3:])
            for word in rest:
                if word in ('-r', '-t', '-w', '-n', '-p'):
                    next(rest)
                elif not word.startswith('-'):
                    plain.append(word)
            found.append((plain[1], yaml.safe_load(plain[2]) if len(plain) > 2 else {}))
    return found


@pytest.mark.ros
@pytest.mark.parametrize(
    ('verb', 'what', 'part'),
    [
        ('service', 'call', lambda kind: kind.Request),
        ('topic', 'pub', lambda kind: kind),
        ('action', 'send_goal', lambda kind: kind.Goal),
    ],
)
def test_requests_and_messages_have_fields_of_their_types(verb, what, part):
    from test.config.running_world import interface

    lines = ros_lines(verb, what)
    assert lines
    for name, fields in lines:
        assert fields_fit(part(interface(name)), fields), (name, fields)


@pytest.mark.ros
def test_parameters_of_bridge_and_policy_node_are_there():
    from urlab_ros_bridge.policy.node import PARAMETERS
    from urlab_ros_bridge.ros.program.features import Settings

    bridge = {words[4] for words in ROS if words[1:4] == ['param', 'set', '/urlab_bridge']}
    policy = set()
    for words in (words for _, words in OURS if '--ros-args' in words):
        named = policy if words[1] == 'policy' else bridge
        arguments = words[words.index('--ros-args') :]
        named |= {
            word.partition(':=')[0] for word in arguments if ':=' in word and '__' not in word
        }
    assert bridge and bridge <= set(Settings.TABLE)
    assert policy and policy <= {'use_sim_time', *PARAMETERS}
