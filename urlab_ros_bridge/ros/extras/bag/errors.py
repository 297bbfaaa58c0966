# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of starting and stopping a bag."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError


class BagError(UrlabError):
    """
    Base of the errors of bags.

    :cvar code: error code in the response of a service.
    """

    code = 'bag_failed'


class BagActive(BagError):
    """A bag is already being recorded."""

    code = 'bag_active'

    def __init__(self, path: object) -> None:
        super().__init__(f'{path} is already being recorded; call bag_stop first')


class NoBag(BagError):
    """No bag is being recorded."""

    code = 'bag_not_active'

    def __init__(self) -> None:
        super().__init__('no bag is being recorded; start one with bag_start')


class BagsUnavailable(BagError):
    """The package mcap is not installed."""

    code = 'bag_unavailable'

    def __init__(self, cause: ImportError) -> None:
        super().__init__(
            f'bags need the Python package mcap ({cause}): run "urlab setup --with bags"'
        )


class NoSuchTopic(BagError):
    """A name matches no topic that the bridge publishes or subscribes to."""

    code = 'unknown_topic'

    def __init__(self, pattern: str, topics: list[str]) -> None:
        super().__init__(f'no topic matches {pattern!r}; {list_names("topic", topics, 60)}')


class NotWritable(BagError):
    """The folder of a bag cannot be created."""

    code = 'path_not_writable'


class BagFailed(BagError):
    """Writing failed; the messages before that are kept."""


class BagTimeout(BagError):
    """A thread of the bridge did not respond in time."""

    code = 'timeout'


class SchemaMissing(BagError):
    """A message type has no .msg file on this machine."""

    def __init__(self, kind: str) -> None:
        super().__init__(f'no definition of {kind} is installed (share/PACKAGE/msg/TYPE.msg)')
