# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Keys of ZeroMQ's own encryption, CURVE (ZMTP RFC 26), in one folder.

::

    server.key          public key of the server, by which clients identify it
    server.key_secret   its secret key: stays with the server
    client.key_secret   the key pair of the clients that use this folder
    clients/NAME.key    public keys of all clients that the server accepts

The files are certificates as written by pyzmq and CZMQ.  A server reads the first, second and
last, a client the first and third.  Clients whose public key is not among the last are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import re
import stat
from typing import Any
from typing import TYPE_CHECKING

from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.wire.errors import UrlabError

if TYPE_CHECKING:
    import zmq

SERVER, CLIENT, CLIENTS = 'server', 'client', 'clients'
_SECRET_HEAD = '# A secret key of CURVE. Only its owner may read it.\n'
_PUBLIC_HEAD = '# A public key of CURVE; it may be handed on.\n'
_Z85 = re.compile(rb'[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}')
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_-]{0,63}')
_MAX_BYTES = 1 << 14


class KeysUnusable(UrlabError, ValueError):
    """A folder of keys cannot be used; the message names the file and gives the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f'{path}: {reason}; `urlab keys {path.parent}` creates keys')


@dataclass(frozen=True, slots=True, repr=False)
class ServerKeys:
    """
    The key pair of a server, and the clients that it admits.

    :ivar clients: folder of the public keys of clients.
    """

    public: bytes
    secret: bytes
    clients: Path


@dataclass(frozen=True, slots=True, repr=False)
class ClientKeys:
    """The key pair of a client, and the public key of the server that it trusts."""

    public: bytes
    secret: bytes
    server: bytes

    def protect(self, socket: zmq.Socket[Any]) -> None:
        """Encrypt the connections of a socket to this server; call before it connects."""
        import zmq

        socket.setsockopt(zmq.CURVE_SERVERKEY, self.server)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self.public)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self.secret)


# Keys, the folder that they are in, or none.
KeySource = ClientKeys | Path | str | None


def read_server_keys(folder: Path) -> ServerKeys:
    """
    Read the keys of a server.

    :raises KeysUnusable: when one is missing, damaged, or not kept secret.
    """
    public, secret = _read_pair(folder / f'{SERVER}.key_secret')
    clients = folder / CLIENTS
    known = sorted(clients.glob('*.key')) if clients.is_dir() else []
    if not known:
        raise KeysUnusable(
            clients, 'contains no public key of a client, so no client could connect'
        )
    for path in known:
        _read(path)
    return ServerKeys(public, secret, clients)


def read_client_keys(source: KeySource) -> ClientKeys | None:
    """
    Read the keys of a client; keys that are read already, and none, are returned as they are.

    :raises KeysUnusable: when one is missing, damaged, or not kept secret.
    """
    if not source:
        return None
    if isinstance(source, ClientKeys):
        return source
    folder = Path(source)
    server, _ = _read(folder / f'{SERVER}.key')
    return ClientKeys(*_read_pair(folder / f'{CLIENT}.key_secret'), server)


def make_keys(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """
    Make what is missing of a folder of keys: the server's, the local client's, and others'.

    :param names: of further clients; each gets a folder of its own in `folder`, with all that is
        to be carried to its machine.
    :returns: the files that were made; none that was there is changed.
    :raises KeysUnusable: when keys that are there are damaged, or a name is none.
    """
    for name in names:
        if not _NAME.fullmatch(name) or name in (SERVER, CLIENT, CLIENTS):
            raise KeysUnusable(folder / name, f'{name!r} is not a valid name for a client')
    made: list[Path] = []
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / CLIENTS).mkdir(mode=0o700, exist_ok=True)
    server = _pair(folder / f'{SERVER}.key_secret', made)
    _publish(folder / f'{SERVER}.key', server, made)
    own = _pair(folder / f'{CLIENT}.key_secret', made)
    _publish(folder / CLIENTS / f'{CLIENT}.key', own, made)
    for name in names:
        (folder / name).mkdir(mode=0o700, exist_ok=True)
        pair = _pair(folder / name / f'{CLIENT}.key_secret', made)
        _publish(folder / name / f'{SERVER}.key', server, made)
        _publish(folder / CLIENTS / f'{name}.key', pair, made)
    return made


def _pair(path: Path, made: list[Path]) -> bytes:
    """Return the public key of a pair, which is made where there is none."""
    if path.exists():
        return _read_pair(path)[0]
    import zmq

    public, secret = zmq.curve_keypair()
    text = f'{_SECRET_HEAD}curve\n    public-key = "{public.decode()}"\n'
    text += f'    secret-key = "{secret.decode()}"\n'
    write_whole(path, text.encode('ascii'), 0o600)
    made.append(path)
    return public


def _publish(path: Path, public: bytes, made: list[Path]) -> None:
    """Write a public key, unless the file has it."""
    if path.exists() and _read(path)[0] == public:
        return
    text = f'{_PUBLIC_HEAD}curve\n    public-key = "{public.decode()}"\n'
    write_whole(path, text.encode('ascii'), 0o644)
    made.append(path)


def _read_pair(path: Path) -> tuple[bytes, bytes]:
    public, secret = _read(path)
    if secret is None:
        raise KeysUnusable(path, 'contains no secret key')
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeysUnusable(path, 'other users can read this secret key: run `chmod 600` on it')
    return public, secret


def _read(path: Path) -> tuple[bytes, bytes | None]:
    """Return the public key of a file, and the secret one if there is one."""
    from zmq.auth import load_certificate

    try:
        size = path.stat().st_size
        public, secret = load_certificate(path) if size <= _MAX_BYTES else (b'', None)
    except OSError as error:
        raise KeysUnusable(path, error.strerror or 'is missing') from error
    except (ValueError, IndexError) as error:
        raise KeysUnusable(path, 'contains no public key') from error
    for key in (public, secret):
        if key is not None and not _Z85.fullmatch(key):
            raise KeysUnusable(path, 'a key must have 40 characters of Z85')
    return public, secret
