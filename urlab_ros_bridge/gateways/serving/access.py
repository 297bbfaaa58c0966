# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Access rules of a gateway: the address that it binds, its token, and pages of browsers.

A browser lets any page open a WebSocket to any address, this machine's included, and names the
page's site in the header Origin (RFC 6455, section 10.2).  The header Host does not prove
anything: a site may point its own name at this machine (DNS rebinding).  So an origin counts by
its address alone, unless it was named in the settings.

A page that a gateway serves itself is requested without an Origin.  There a Host that is a name
may be such a trick, so for files it has to be an address, or of an origin in the settings.  The
token that opened the page is returned as a cookie, which other sites do not get (SameSite).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import hashlib
import hmac
from http import HTTPStatus
import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from urllib.parse import urlsplit

from urlab_ros_bridge.wire.addresses import is_loopback
from urlab_ros_bridge.wire.errors import UrlabError

if TYPE_CHECKING:
    from websockets.http11 import Request

# RFC 3986, section 3.3; queries are not checked, because stock clients send various ones.
_TARGET = re.compile(r"/[\w.~!$&'()*+,;=:@%/-]*(\?[!-~]*)?", re.ASCII)
_ORIGIN = re.compile(r'[a-z][a-z0-9+.-]*://[^/?#@\s]+', re.ASCII)
COOKIE = 'urlab_token'
_DEFAULT_PORTS = {'http': 80, 'https': 443}


class OpenWithoutToken(UrlabError):
    """A gateway would admit the whole network."""

    def __init__(self, bind: str) -> None:
        super().__init__(
            f'--bind {bind or "(all)"} lets any machine on the network drive the robot: give '
            '--token SECRET, which clients must send, or --insecure to accept any client, or '
            '--bind 127.0.0.1 for this machine alone'
        )


class BadOrigin(UrlabError, ValueError):
    """Invalid --allow-origin value."""

    def __init__(self, value: str) -> None:
        super().__init__(
            f'--allow-origin: {value!r} is not an origin such as https://example.org or '
            'http://robot.local:8080, without a path'
        )


class HandshakeRefusal(Exception):
    """
    The answer to a handshake that is not accepted.

    :ivar status: HTTP status; the text is the body.
    :ivar headers: of the answer, beside the usual ones.
    """

    def __init__(self, status: int, text: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.headers = tuple(headers)


@dataclass(frozen=True, slots=True)
class Access:
    """
    The rules of one gateway.

    :ivar token: required of clients (``?token=`` or ``Authorization: Bearer``); '' requires none.
    :ivar origins: sites whose pages may connect, beside those of this machine.
    :ivar view_token: another token, of clients that may only watch; '' for none.
    :raises OpenWithoutToken: when `bind` is wider than loopback, without a token or `insecure`.
    :raises BadOrigin: for an invalid origin.
    """

    bind: str = '127.0.0.1'
    token: str = ''
    origins: tuple[str, ...] = ()
    insecure: bool = False
    view_token: str = ''

    def __post_init__(self) -> None:
        if not (self.token or self.insecure or is_loopback(self.bind)):
            raise OpenWithoutToken(self.bind)
        for origin in self.origins:
            if origin != 'null' and not _ORIGIN.fullmatch(origin.lower()):
                raise BadOrigin(origin)

    def check(self, request: Request, address: str) -> None:
        """
        Check an opening request.

        :param address: of this machine, at which the request arrived.
        :raises HandshakeRefusal: when it is not allowed in.
        """
        if not _TARGET.fullmatch(request.path):
            path = request.path.partition('?')[0]  # without a token
            raise HandshakeRefusal(HTTPStatus.BAD_REQUEST, f'{path!r:.60} is not a path')
        self._check_origin(request.headers.get_all('Origin'), address)
        self._check_token(request)

    def check_download(self, request: Request, address: str) -> None:
        """
        Check a request for a file.

        :param address: of this machine, at which the request arrived.
        :raises HandshakeRefusal: when it is not answered.
        """
        self.check(request, address)
        hosts = request.headers.get_all('Host')
        if len(hosts) != 1:
            raise HandshakeRefusal(HTTPStatus.BAD_REQUEST, 'exactly one Host is required')
        named = (plain_origin(origin).partition('://')[2] for origin in self.origins)
        if hosts[0].lower() not in named and not _is_of(f'http://{hosts[0]}', address):
            raise HandshakeRefusal(
                HTTPStatus.FORBIDDEN,
                f'{hosts[0]!r:.80} is a host name: open the page by the address of this machine, '
                f'or allow the name with --allow-origin',
            )

    def cookie_for(self, request: Request) -> list[tuple[str, str]]:
        """Return the header that makes a browser send the token with all its requests."""
        for token in self._tokens:
            if any(same_secret(given, token) for given in _query_tokens(request)):
                words = f'{self._cookie}={_digest(token)}; Path=/; HttpOnly; SameSite=Strict'
                return [('Set-Cookie', words)]
        return []

    def may_only_watch(self, request: Request) -> bool:
        """
        Return whether a client that passed `check` may only watch.

        It has no other right, or requests this by ``view`` in its query.
        """
        query = parse_qs(request.path.partition('?')[2], keep_blank_values=True)
        return 'view' in query or bool(self.token and not self._has_token(request, self.token))

    @property
    def _cookie(self) -> str:
        """Return the name of the cookie: browsers send it to every port of this machine."""
        return f'{COOKIE}_{_digest(f"{self.token}:{self.view_token}")[:8]}'

    @property
    def _tokens(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.token, self.view_token)))

    def _check_origin(self, given: list[str], address: str) -> None:
        if len(given) > 1:
            raise HandshakeRefusal(HTTPStatus.BAD_REQUEST, 'more than one Origin')
        for origin in given:
            site = plain_origin(origin)
            if site not in map(plain_origin, self.origins) and not _is_of(site, address):
                raise HandshakeRefusal(
                    HTTPStatus.FORBIDDEN,
                    f'pages of {origin!r:.80} may not connect; allow them with --allow-origin',
                )

    def _check_token(self, request: Request) -> None:
        if not self.token:
            return
        if not any(self._has_token(request, token) for token in self._tokens):
            raise HandshakeRefusal(
                HTTPStatus.UNAUTHORIZED,
                'a token is required: ?token=... or Authorization: Bearer ...',
                [('WWW-Authenticate', 'Bearer')],
            )

    def _has_token(self, request: Request, token: str) -> bool:
        given_tokens = _query_tokens(request)
        for value in request.headers.get_all('Authorization'):
            scheme, _, word = value.partition(' ')
            if scheme.lower() == 'bearer':
                given_tokens.append(word.strip())
        if given_tokens:  # then a cookie of another session does not count
            return any(same_secret(word, token) for word in given_tokens)
        return _has_cookie(request, self._cookie, _digest(token))


def plain_origin(origin: str) -> str:
    """
    Return an origin in canonical form: lower case, no default port.

    >>> plain_origin('HTTPS://Example.org:443')
    'https://example.org'
    """
    origin = origin.lower()
    default = _DEFAULT_PORTS.get(origin.partition('://')[0])
    return origin if default is None else origin.removesuffix(f':{default}')


def same_secret(one: str, other: str) -> bool:
    """Compare two strings in constant time."""
    return hmac.compare_digest(
        one.encode(errors='surrogatepass'), other.encode(errors='surrogatepass')
    )


def _query_tokens(request: Request) -> list[str]:
    return parse_qs(request.path.partition('?')[2]).get('token', [])


def _has_cookie(request: Request, wanted_name: str, wanted: str) -> bool:
    for value in request.headers.get_all('Cookie'):
        for pair in value.split(';'):
            name, _, word = pair.strip().partition('=')
            if name == wanted_name and same_secret(word, wanted):
                return True
    return False


def _digest(token: str) -> str:
    """Return the digest that represents the token in a cookie, which browsers show and keep."""
    return hashlib.sha256(f'{COOKIE}:{token}'.encode(errors='surrogatepass')).hexdigest()


def _is_of(origin: str, address: str) -> bool:
    """Return whether an origin is this machine, given by address and not by name."""
    try:
        host = urlsplit(origin).hostname or ''
        if is_loopback(host):
            return True
        return ipaddress.ip_address(host) == ipaddress.ip_address(address.partition('%')[0])
    except ValueError:
        return False


__all__ = [
    'COOKIE',
    'Access',
    'BadOrigin',
    'HandshakeRefusal',
    'OpenWithoutToken',
    'plain_origin',
    'same_secret',
]  # fmt: skip
