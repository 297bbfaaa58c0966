# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Install lock files into the environment whose Python runs this: install.py LOCK [--no-deps LOCK]

By uv, which takes a tenth of pip's time. uv does not read the settings of pip (index, proxy,
certificates), so they are handed over. pip does the work where uv cannot: where it is not to be
had, where a setting has no counterpart in uv, and where uv fails.
"""

import argparse
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import os
from pathlib import Path
import subprocess
import sys

HERE = Path(__file__).resolve().parent
BIN = Path(sys.prefix) / 'bin'
PIP = [sys.executable, '-m', 'pip', '--disable-pip-version-check', '--no-input']

# Of pip's settings, those that uv takes as an option with a value, ...
OPTIONS = {
    'index-url': '--index-url',
    'extra-index-url': '--extra-index-url',
    'find-links': '--find-links',
    'trusted-host': '--allow-insecure-host',
    'constraint': '--constraints',
}
# ... as a flag, ...
FLAGS = {'no-index': '--no-index', 'no-cache-dir': '--no-cache', 'pre': '--prerelease=allow'}
# ... as variables, ...
VARIABLES = {
    'cert': ('SSL_CERT_FILE',),
    'default-timeout': ('UV_HTTP_TIMEOUT',),
    'proxy': ('HTTP_PROXY', 'HTTPS_PROXY'),
    'timeout': ('UV_HTTP_TIMEOUT',),
}
# ... and those that say nothing about where packages come from and which.
IRRELEVANT = {
    'break-system-packages',
    'cache-dir',
    'config-file',
    'disable-pip-version-check',
    'log',
    'no-color',
    'no-compile',
    'no-input',
    'no-warn-script-location',
    'progress-bar',
    'quiet',
    'require-virtualenv',
    'retries',
    'root-user-action',
    'verbose',
}
YES = ('1', 'on', 't', 'true', 'y', 'yes')


class NoCounterpart(Exception):
    """A setting of pip that cannot be handed over to uv."""


@dataclass
class UvSettings:
    arguments: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)


def parse_settings(listing: str) -> dict[str, str]:
    """Return the settings in the output of `pip config list` that hold for `pip install`.

    A section for one command wins over the global one, and the environment over both.
    """
    found: dict[str, dict[str, str]] = {'global': {}, 'install': {}, ':env:': {}}
    for line in listing.splitlines():
        name, _, value = line.partition('=')
        section, _, key = name.rpartition('.')
        if section in found:
            found[section][key] = str(literal_eval(value))
    return found['global'] | found['install'] | found[':env:']


def translate(settings: Mapping[str, str]) -> UvSettings:
    """Return what makes uv install as pip does with these settings.

    Raises NoCounterpart if a setting has none.
    """
    uv = UvSettings()
    for key, value in settings.items():
        if key in OPTIONS:
            uv.arguments += [part for word in value.split() for part in (OPTIONS[key], word)]
        elif key in FLAGS:
            uv.arguments += [FLAGS[key]] if value.lower() in YES else []
        elif key in VARIABLES:
            uv.variables |= dict.fromkeys(VARIABLES[key], value)
        elif key not in IRRELEVANT:
            raise NoCounterpart(f'pip is set to {key} = {value!r}, which uv does not know')
    return uv


def run(command: list[str], variables: Mapping[str, str] | None = None) -> None:
    print('+', *command, flush=True)
    subprocess.run(command, env=os.environ | (variables or {}), check=True)


def install_by_uv(lock_files: list[list[str]]) -> None:
    listing = subprocess.run(
        [*PIP, 'config', 'list'], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    settings = translate(parse_settings(listing))
    run([*PIP, 'install', '-r', str(HERE / 'requirements' / 'installer.lock')])
    for arguments in lock_files:
        run(
            # Like pip, the best version of all indexes, whichever comes first.
            [str(BIN / 'uv'), 'pip', 'install', '--python', sys.executable, '--no-progress',
             '--index-strategy', 'unsafe-best-match', *settings.arguments, *arguments],
            settings.variables,
        )  # fmt: skip


def install_by_pip(lock_files: list[list[str]]) -> None:
    for arguments in lock_files:
        run([*PIP, 'install', '--progress-bar', 'off', '--no-compile', *arguments])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('lock')
    parser.add_argument('--no-deps', metavar='LOCK', help='installed without its dependencies')
    chosen = parser.parse_args()
    lock_files = [['-r', chosen.lock]]
    if chosen.no_deps:
        lock_files.append(['--no-deps', '-r', chosen.no_deps])
    try:
        install_by_uv(lock_files)
    except (NoCounterpart, OSError, ValueError, SyntaxError, subprocess.CalledProcessError) as why:
        print(f'Installing by pip, because by uv it is not possible: {why}', flush=True)
        try:
            install_by_pip(lock_files)
        except subprocess.CalledProcessError as error:
            sys.exit(error.returncode)


if __name__ == '__main__':
    main()
