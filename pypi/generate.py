# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Run a code generator of rosidl: generate.py GENERATOR ARGUMENT...

Six generators go over each interface package, and each parses all interface definitions again,
which takes half of its time. Here the first one leaves what it has parsed beside the definition,
in the build directory, and the others read that.
"""

import gc
from hashlib import sha256
import os
from pathlib import Path
import pickle
import runpy
import sys

from rosidl_parser import definition
from rosidl_parser import parser
from rosidl_parser.definition import IdlFile
from rosidl_parser.definition import IdlLocator

_parse = parser.parse_idl_file
_VERSION = b''.join(Path(module.__file__).read_bytes() for module in (definition, parser))


def parse_once(locator: IdlLocator, png_file: str | None = None) -> IdlFile:
    """Do what `rosidl_parser.parser.parse_idl_file` does, once for each definition."""
    path = Path(locator.get_absolute_path())
    digest = sha256(_VERSION + path.read_bytes()).hexdigest()
    kept = path.with_name(f'{path.name}.{digest}.parsed')
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    parsed = _parse(locator, png_file)
    unfinished = kept.with_suffix(f'.{os.getpid()}')
    unfinished.write_bytes(pickle.dumps(parsed))
    unfinished.replace(kept)
    return parsed


def main() -> None:
    gc.disable()  # short-lived, and its trees are not garbage
    parser.parse_idl_file = parse_once  # before the generator imports it by name
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name='__main__')


main()
