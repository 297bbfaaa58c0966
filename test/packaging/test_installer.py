# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of pip as uv gets them, and pip where uv cannot do the work."""

from importlib.metadata import distributions
import importlib.util
import os
from pathlib import Path
import subprocess
import sys
from types import ModuleType

from lifelines import run_process
import pytest

# Not importorskip: to import pip makes setuptools leave distutils to Python, for all later tests.
if not [*distributions(name='pip')]:
    pytest.skip('an installed ROS may have no pip', allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f'pypi_{path.stem}', path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


install = load(ROOT / 'pypi' / 'install.py')


def listing_of(tmp_path: Path, text: str, **variables: str) -> str:
    """Return what pip itself says about a configuration file and PIP_* variables."""
    file = tmp_path / 'pip.conf'
    file.write_text(text, encoding='utf-8')
    return run_process(
        [sys.executable, '-m', 'pip', 'config', 'list'],
        env={
            'PATH': '/usr/bin:/bin',
            # Neither the user's settings nor those of this machine.
            'HOME': str(tmp_path),
            'XDG_CONFIG_DIRS': str(tmp_path),
            'PIP_CONFIG_FILE': str(file),
        }
        | variables,
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip


def test_environment_wins_over_the_command_over_the_global_section(tmp_path):
    text = (
        '[global]\nindex-url = https://a.example/simple\nfind-links = /a\nretries = 1\n'
        '[install]\nindex-url = https://b.example/simple\n[download]\nfind-links = /c\n'
    )
    settings = install.parse_settings(
        listing_of(tmp_path, text, PIP_INDEX_URL="https://c.example/it's", PIP_NO_INPUT='1')
    )
    assert settings['index-url'] == "https://c.example/it's"
    assert settings['find-links'] == '/a'
    settings = install.parse_settings(listing_of(tmp_path, text))
    assert settings['index-url'] == 'https://b.example/simple'
    install.translate(settings)


def test_lists_of_a_file_reach_uv_one_by_one(tmp_path):
    text = (
        '[global]\nextra-index-url =\n  https://a.example\n  https://b.example\nno-index = no\n'
        'constraint = /etc/pip/constraints.txt\n'
    )
    uv = install.translate(install.parse_settings(listing_of(tmp_path, text)))
    assert uv.arguments == [
        '--constraints', '/etc/pip/constraints.txt',
        '--extra-index-url', 'https://a.example', '--extra-index-url', 'https://b.example',
    ]  # fmt: skip


def test_certificates_and_patience_are_variables_of_uv():
    uv = install.translate({'cert': '/etc/our.pem', 'default-timeout': '180', 'no-index': 'true'})
    assert uv.variables == {'SSL_CERT_FILE': '/etc/our.pem', 'UV_HTTP_TIMEOUT': '180'}
    assert uv.arguments == ['--no-index']


@pytest.mark.parametrize('key', ['client-cert', 'only-binary', 'no-binary', 'of-the-future'])
def test_what_uv_does_not_know_is_named(key):
    with pytest.raises(install.NoCounterpart, match=f"{key} = 'x'"):
        install.translate({key: 'x'})


@pytest.fixture
def commands(monkeypatch):
    """Return the commands that would have been run; those with a word in `fails` fail."""
    log = []
    fails = set()

    def run(command, variables=None):
        log.append(command)
        if fails & {Path(command[0]).name, *command}:
            raise subprocess.CalledProcessError(7, command)

    monkeypatch.setattr(install, 'run', run)
    monkeypatch.setattr(sys, 'argv', ['install.py', 'all.lock', '--no-deps', 'models.lock'])
    for name in [name for name in os.environ if name.startswith('PIP_')]:
        monkeypatch.delenv(name)
    monkeypatch.setenv('PIP_CONFIG_FILE', os.devnull)  # then pip reads no other file, either
    return {'log': log, 'fails': fails}


def installed_by(commands, tool):
    return [line for line in commands['log'] if Path(line[0]).name == tool and 'all.lock' in line]


def test_uv_installs_what_pip_would(commands):
    install.main()
    assert len(installed_by(commands, 'uv')) == 1
    assert [line[-3:] for line in commands['log'][-1:]] == [['--no-deps', '-r', 'models.lock']]
    assert not installed_by(commands, Path(sys.executable).name)


@pytest.mark.parametrize('reason', ['uv', 'installer'])
def test_pip_installs_where_uv_fails_or_is_not_to_be_had(commands, reason, capsys):
    lock = str(ROOT / 'pypi' / 'requirements' / 'installer.lock')
    commands['fails'].add({'uv': 'uv', 'installer': lock}[reason])
    install.main()
    python = Path(sys.executable).name
    assert len(installed_by(commands, python)) == 1
    assert commands['log'][-1][-3:] == ['--no-deps', '-r', 'models.lock']
    assert 'Installing by pip' in capsys.readouterr().out


def test_pip_installs_where_a_setting_has_no_counterpart(commands, monkeypatch, capsys):
    monkeypatch.setenv('PIP_CLIENT_CERT', '/me.pem')
    install.main()
    assert not installed_by(commands, 'uv')
    assert installed_by(commands, Path(sys.executable).name)
    assert "client-cert = '/me.pem'" in capsys.readouterr().out


def test_where_both_fail_so_does_the_step(commands):
    commands['fails'].add('all.lock')
    with pytest.raises(SystemExit) as ended:
        install.main()
    assert ended.value.code == 7
