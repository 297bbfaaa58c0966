# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Create the folder of a bag."""

from __future__ import annotations

import os
from pathlib import Path
import re
import time

from urlab_ros_bridge.files import confined
from urlab_ros_bridge.files import default_data_dir
from urlab_ros_bridge.files import PathRefused
from urlab_ros_bridge.ros.bag.errors import NotWritable
from urlab_ros_bridge.ros.bag.parameters import BagParameters

FOLDER = 'Bags'
# Shells and `ros2 bag` take such a name as it is: no options, no spaces, nothing to expand.
_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+-]*', re.ASCII)
DATED = 'auto'


def make_folder(name: str, options: BagParameters) -> Path:
    """
    Create the folder of a bag and return its absolute path.

    A relative name is in `Bags` of the data folder; an absolute path must be in the data folder,
    unless the parameters allow others.

    :param name: empty or ``auto``: a name with date and time.
    :raises NotWritable: for other paths, and when the folder exists.
    """
    root = Path(options.data_dir) if options.data_dir else default_data_dir()
    if name in ('', DATED):
        name = time.strftime('bag_%Y_%m_%d-%H_%M_%S')
    parts = Path(name).parts
    if not all(map(_NAME.fullmatch, parts[-1:] if name.startswith('/') else parts)):
        raise NotWritable(
            f'{name!r:.300} is not a name for a bag: letters, digits and _ . + - are allowed, and '
            'each name begins with a letter, a digit or _'
        )
    try:
        path = confined(
            Path(os.path.realpath(root)),
            FOLDER,
            name,
            allow_absolute=options.allow_absolute_paths,
            advice='set the parameter data_dir or allow_absolute_paths of the bridge',
        )
        path.mkdir(parents=True)
    except PathRefused as error:
        raise NotWritable(str(error)) from error
    except FileExistsError:
        raise NotWritable(f'{path} already exists; give the bag another name') from None
    except OSError as error:
        raise NotWritable(f'{path}: {error.strerror or error}') from error
    return path
