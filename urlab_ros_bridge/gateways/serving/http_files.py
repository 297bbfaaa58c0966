# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a gateway answers to plain HTTP requests on the port of its WebSocket."""

from __future__ import annotations

from email.utils import formatdate
from http import HTTPStatus
from typing import NamedTuple
from typing import Protocol

from websockets.datastructures import Headers
from websockets.http11 import Request
from websockets.http11 import Response


class HttpAnswer(NamedTuple):
    """
    An answer to GET.

    :ivar status: HTTP status.
    :ivar headers: beside Date, Connection, Content-Type and Content-Length.
    """

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    def head(self) -> bytes:
        """Return all that precedes the body."""
        headers = Headers(
            [
                ('Date', formatdate(usegmt=True)),
                ('Connection', 'close'),
                ('Content-Type', self.content_type),
                ('Content-Length', str(len(self.body))),
                *self.headers,
            ]
        )
        return Response(self.status, HTTPStatus(self.status).phrase, headers).serialize()


class HttpFiles(Protocol):
    """The files of a gateway."""

    def respond(self, path: str) -> HttpAnswer:
        """
        Answer GET; called by several threads, for peers that have passed the rules of `Access`.

        :param path: of the request's target, with the percent signs of a URL, without its query;
            it begins with a slash and is otherwise as the peer wrote it, with ``..`` too.
        """


def wants_websocket(request: Request) -> bool:
    """Return whether a request asks for a WebSocket (RFC 6455, section 4.1)."""
    return any(value.strip() for value in request.headers.get_all('Upgrade'))


__all__ = ['HttpAnswer', 'HttpFiles', 'wants_websocket']
