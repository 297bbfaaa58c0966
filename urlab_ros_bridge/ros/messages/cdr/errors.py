# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the CDR templates."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class CdrError(UrlabError):
    """Base of the errors of this package."""


class UnsupportedType(CdrError, TypeError):
    """A field has a type whose serialisation differs between implementations."""

    def __init__(self, path: str, typename: str) -> None:
        super().__init__(
            f'field {path!r} is a {typename}, which has no portable layout in CDR; '
            'all types of ROS interfaces except wstring and wchar are supported'
        )


class FieldMismatch(CdrError, TypeError):
    """A field was requested as something that it is not."""

    def __init__(self, path: str, wanted: str, found: str) -> None:
        super().__init__(f'field {path!r} was requested as {wanted}, but is {found}')


class TemplateMismatch(CdrError):
    """The layout computed here differs from the middleware's."""

    def __init__(self, message_type: str, reason: str) -> None:
        super().__init__(f'cannot make a template of {message_type}: {reason}')
