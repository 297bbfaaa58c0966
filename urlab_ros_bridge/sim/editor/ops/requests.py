# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What requests of several editor ops have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from urlab_ros_bridge.sim.editor.editor import LevelEditor
from urlab_ros_bridge.sim.editor.level.actors import LevelActor
from urlab_ros_bridge.sim.editor.level.transforms import as_vector
from urlab_ros_bridge.sim.editor.level.transforms import Vector
from urlab_ros_bridge.sim.editor.view.drawings import Color
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields

MAX_ID = 100  # characters of an actor id or name


@contextmanager
def failing_as(code: str) -> Iterator[None]:
    """Turn what a file or the compiler does wrong into the op's own error code."""
    try:
        yield
    except (WorldError, SidecarError) as error:
        raise OpError(code, str(error)) from error


def text_of(fields: Fields, name: str) -> str:
    """
    Return a text that must be there and not be empty.

    :raises OpError: missing_field or bad_value.
    """
    text = fields.string(name)
    if not text:
        raise OpError('missing_field', f'{name} (it is empty)')
    return text


def actor_id_of(fields: Fields, name: str = 'actor_id') -> str:
    """
    Return an actor id, '' when it is absent.

    :raises OpError: bad_value.
    """
    text = fields.string(name)
    if len(text) > MAX_ID or not text.isprintable():
        raise bad_value(name, text, f'at most {MAX_ID} printable characters')
    return text


def target_of(editor: LevelEditor, fields: Fields) -> LevelActor:
    """
    Return the actor that `target` names: by its id, or its name with target_by actor_name.

    :raises OpError: unknown_actor, listing the actors.
    """
    by_name = fields.string('target_by').lower() == 'actor_name'
    return editor.find(text_of(fields, 'target'), by_name)


def color_of(fields: Fields, default: Color) -> Color:
    """
    Return `color`: red, green, blue, clamped to [0, 1] as the stock plugin does.

    :raises OpError: bad_value.
    """
    color = fields.vector('color')
    if color is None:
        return default
    if len(color) != 3:
        raise bad_value('color', color.tolist(), 'red, green, blue from 0 to 1')
    return as_vector(np.clip(color, 0.0, 1.0))


def three(fields: Fields, name: str, default: Vector) -> Vector:
    """
    Return a field of three numbers.

    :raises OpError: bad_value.
    """
    values = fields.vector(name)
    if values is None:
        return default
    if len(values) != 3:
        raise bad_value(name, values.tolist(), 'three numbers')
    return as_vector(values)
