# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of features: one that is broken is named, counted and logged, and the others continue."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from functools import partial
import threading
import traceback
from typing import Any

from urlab_ros_bridge.wire.errors import UrlabError


class FeatureErrors:
    """
    What features have raised; thread-safe.

    :ivar counts: feature -> number of errors since the start.
    :ivar last: feature -> text of its last error in the present world.
    """

    def __init__(self, log: Callable[[str, str], None]) -> None:
        """
        Begin without errors.

        :param log: takes a severity and a text.
        """
        self.counts: dict[str, int] = {}
        self.last: dict[str, str] = {}
        self._log = log
        self._logged: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def add(self, feature: str, error: Exception) -> None:
        """
        Count an error, and log it the first time that it is raised at its place.

        An error of our own is logged as its text, any other one with its traceback.
        """
        text, place = text_of(error), _place_of(error)
        with self._lock:
            self.counts[feature] = self.counts.get(feature, 0) + 1
            self.last[feature] = text
            is_new = (feature, place) not in self._logged
            self._logged.add((feature, place))
        if is_new:
            if not isinstance(error, UrlabError):
                text = ''.join(traceback.format_exception(error)).rstrip()
            self._log('error', f'feature {feature!r}: {text}')

    def begin_world(self) -> None:
        """Forget the last errors: they may have been those of another world."""
        with self._lock:
            self.last = {}

    @contextlib.contextmanager
    def caught(self, feature: str) -> Iterator[None]:
        """Catch and count what the block raises."""
        try:
            yield
        except Exception as error:
            self.add(feature, error)


def text_of(error: Exception) -> str:
    """
    Return the text of an error, with its type if it is unexpected.

    >>> text_of(ValueError('7')), text_of(UrlabError('no robot'))
    ('ValueError: 7', 'no robot')
    """
    return str(error) if isinstance(error, UrlabError) else f'{type(error).__name__}: {error}'


def owner_of(callback: Callable[..., Any]) -> str:
    """
    Return where a callback was defined, for callbacks that no feature declares.

    >>> owner_of(text_of)
    'urlab_ros_bridge.ros.features.errors.text_of'
    """
    while isinstance(callback, partial):
        callback = callback.func
    name = getattr(callback, '__qualname__', type(callback).__qualname__)
    return f'{callback.__module__}.{name}'


def _place_of(error: Exception) -> str:
    """Return type and last line of an error; texts of one error may differ each time."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f'{frames[-1].filename}:{frames[-1].lineno}' if frames else ''
    return f'{type(error).__name__} {where}'
