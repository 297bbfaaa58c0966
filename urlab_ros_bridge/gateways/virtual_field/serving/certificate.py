# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Certificate and key of the gateway: those of the user, or a self-signed pair."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import socket
import ssl
import subprocess

from urlab_ros_bridge.gateways.virtual_field.errors import WebXrError

DAYS = 365
_DAY = 86400  # s
_OPENSSL_SECONDS = 30.0


class BadCertificate(WebXrError):
    """No usable certificate."""


def tls_context(cert: str, key: str) -> ssl.SSLContext:
    """
    Return the TLS context of a server.

    :param cert, key: PEM files; the key may be in that of the certificate.
    :raises BadCertificate: when they cannot be read, or do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Tickets come unasked right behind the handshake.  A client that reads them in one thread
    # and sends its request in another loses the request now and then: Python before 3.13 has no
    # lock there, and the blocking client of `websockets` does just that.
    context.num_tickets = 0
    try:
        context.load_cert_chain(cert, key or None)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificate(
            f'--cert {cert} and --key {key or "(none)"} are not a certificate and its key: {error}'
        ) from error
    return context


def own_certificate(folder: Path, addresses: list[str]) -> tuple[Path, Path]:
    """
    Return a self-signed certificate and its key; created unless a valid pair exists.

    :param folder: where they are stored, so that browsers ask only once.
    :param addresses: of this machine that it is valid for, besides its name.
    :raises BadCertificate: without the program openssl, and when it fails.
    """
    cert, key, names = folder / 'cert.pem', folder / 'key.pem', folder / 'names.txt'
    wanted = _alternative_names(addresses)
    there = cert.exists() and key.exists() and names.exists()
    if there and names.read_text(encoding='utf-8') == wanted and _is_valid(cert):
        return cert, key
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    _openssl(
        'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
        '-keyout', str(key), '-out', str(cert), '-days', str(DAYS), '-subj', '/CN=urlab webxr',
        '-addext', f'subjectAltName={wanted}', '-addext', 'extendedKeyUsage=serverAuth',
    )  # fmt: skip
    key.chmod(0o600)
    names.write_text(wanted, encoding='utf-8')
    return cert, key


def fingerprint(cert: Path) -> str:
    """Return the SHA-256 fingerprint of a certificate as browsers show it."""
    der = ssl.PEM_cert_to_DER_cert(cert.read_text(encoding='ascii'))
    digest = hashlib.sha256(der).hexdigest().upper()
    return ':'.join(digest[at : at + 2] for at in range(0, len(digest), 2))


def own_addresses() -> list[str]:
    """Return addresses of this machine, those at which others reach it first."""
    found = ['127.0.0.1', '::1']
    for family, probe in ((socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, '2001:db8::1')):
        try:
            # Connecting a datagram socket sends nothing; it asks the kernel for a route.
            with socket.socket(family, socket.SOCK_DGRAM) as link:
                link.connect((probe, 9))
                found.insert(0, link.getsockname()[0])
        except OSError:
            continue
    return list(dict.fromkeys(found))


def data_folder() -> Path:
    """Return the folder of the pair."""
    home = os.environ.get('XDG_DATA_HOME', '')
    return (Path(home) if home else Path.home() / '.local' / 'share') / 'urlab' / 'webxr'


def _alternative_names(addresses: list[str]) -> str:
    names = ['DNS:localhost', f'DNS:{socket.gethostname() or "localhost"}']
    return ','.join(dict.fromkeys([*names, *(f'IP:{address}' for address in addresses)]))


def _is_valid(cert: Path) -> bool:
    try:
        _openssl('x509', '-checkend', str(_DAY), '-noout', '-in', str(cert))
    except BadCertificate:
        return False
    return True


def _openssl(*words: str) -> None:
    try:
        done = subprocess.run(
            ['openssl', *words], capture_output=True, text=True, timeout=_OPENSSL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadCertificate(
            f'cannot run openssl to make a certificate ({error}): install it, or give --cert and '
            '--key'
        ) from error
    if done.returncode:
        raise BadCertificate(f'openssl {words[0]} failed: {done.stderr.strip()[-300:]}')


__all__ = [
    'BadCertificate', 'data_folder', 'fingerprint', 'own_addresses', 'own_certificate',
    'tls_context',
]  # fmt: skip
