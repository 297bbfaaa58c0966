# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Users' functions by name: task hooks and policies."""

from __future__ import annotations

from collections.abc import Callable
import importlib
from typing import Any

from urlab_ros_bridge.gateways.chiral.errors import CallableUnusable


def load_callable(text: str) -> Callable[..., Any]:
    """
    Import `module:name`.

    :raises CallableUnusable: when there is no such thing, or it cannot be called.
    """
    module_name, colon, name = text.partition(':')
    if not colon or not module_name or not name:
        raise CallableUnusable(text, 'is not of the form module:callable')
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split('.'):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise CallableUnusable(text, f'cannot be imported: {error}') from error
    if not callable(found):
        raise CallableUnusable(text, 'cannot be called')
    target: Callable[..., Any] = found
    return target


__all__ = ['load_callable']
