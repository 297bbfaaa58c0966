# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What CONTRIBUTING.md asks of every file and that no linter checks."""

from pathlib import Path
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = (
    '# Copyright 2026 The urlab_ros_bridge authors',
    '# SPDX-License-Identifier: Apache-2.0',
)
LONGEST = 300
FOLDERS = ('urlab_ros_bridge', 'launch', 'test', 'bench')
PYTHON = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py'))
SHELL = [ROOT / 'env.sh', ROOT / 'Makefile', ROOT / '.ci' / 'run', *(ROOT / 'pypi').glob('*.sh')]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize('path', [ROOT / 'setup.py', *PYTHON, *SHELL], ids=relative)
def test_file_states_owner_and_licence(path):
    lines = path.read_text(encoding='utf-8').splitlines()
    start = 1 if lines and lines[0].startswith('#!') else 0
    assert tuple(lines[start : start + 2]) == HEADER


@pytest.mark.parametrize('path', PYTHON, ids=relative)
def test_file_is_short_enough_to_read(path):
    assert len(path.read_text(encoding='utf-8').splitlines()) <= LONGEST


@pytest.mark.parametrize('path', SHELL, ids=relative)
def test_shell_script_parses(path):
    if path.name == 'Makefile':
        command = ['make', '-n', 'help']
    else:
        command = ['bash', '-n', str(path)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0
