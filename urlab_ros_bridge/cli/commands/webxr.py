# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab webxr`: show a simulation in browsers and headsets until a signal comes."""

from __future__ import annotations

from dataclasses import dataclass
import logging
import ssl
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import ConnectTimeout
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import StatePort
from urlab_ros_bridge.cli.arguments.groups import WebSocketAccess
from urlab_ros_bridge.cli.arguments.groups import WEBXR_PORT
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.gateway import serve_until_signal
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.kept_memory import limit_arenas
from urlab_ros_bridge.schema import key as argument
from urlab_ros_bridge.schema import KeyProblem

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer

_LOG = logging.getLogger(__name__)

# Start of the line that is printed on stdout when a browser may connect.
READY_LINE = 'urlab webxr ready'
# The thread that sends states needs the GIL 72 times a second; by default another thread may keep
# it for 5 ms.
_SWITCH_INTERVAL = 0.001


@dataclass(frozen=True, kw_only=True)
class WebXrSettings(WebSocketAccess):
    """Gateway."""

    port: int = argument(
        WEBXR_PORT, 'TCP port of page and WebSocket.', metavar='PORT', low=0, high=LAST_PORT
    )
    arms_per_user: int = argument(
        0, 'Most arms that one user gets; 0: as many as its client asks for.', low=0, high=64
    )
    view_token: str = argument(
        '',
        'Second token, for users who may only watch; requires --token. ?view in the address of '
        'the page does the same for one session.',
        metavar='SECRET',
        longest=4096,
    )
    cert: str = argument(
        '',
        'Certificate (PEM) for https and wss, which headsets require; requires --key.',
        **PATH,
    )
    key: str = argument('', 'Private key of --cert (PEM).', **PATH)
    self_signed: bool = argument(
        False,
        'Serve https and wss with a self-signed certificate, which is created once and kept; '
        'browsers ask once whether to accept it.',
    )

    def check(self) -> None:
        """Refuse an incomplete certificate, or two."""
        if self.view_token and not self.token:
            raise KeyProblem('view_token', 'requires --token: without it everyone may drive')
        if bool(self.cert) != bool(self.key):
            raise KeyProblem('cert', 'cert and key are required together')
        if self.cert and self.self_signed:
            raise KeyProblem('self_signed', 'cannot be combined with cert')


@dataclass(frozen=True, kw_only=True)
class WebXrArguments(
    HostArguments, RpcPort, StatePort, PortOffset, WebXrSettings, ConnectTimeout, LogLevel
):
    """The arguments of `urlab webxr`."""


def make_gateway(values: WebXrArguments) -> WebXrServer:
    """
    Create the gateway; it is not started.

    :raises CliError: when a package is not installed.
    :raises OpenWithoutToken: when the whole network could drive without --token or --insecure.
    """
    require('webxr')
    from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles
    from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrConfig
    from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer

    limit_arenas()
    files = PageFiles()
    if not files.has_libraries:
        _LOG.warning(
            'the page cannot draw without its libraries: run `make web` in the source folder (it '
            'needs npm), and in a workspace build again'
        )
    return WebXrServer(
        WebXrConfig(
            tls=_tls(values),
            host=connect_address(values.host),
            rpc_port=values.moved('rpc_port'),
            keys=values.keys,
            state_port=values.moved('state_port'),
            bind=values.bind,
            port=values.moved('port'),
            token=values.token,
            insecure=values.insecure,
            view_token=values.view_token,
            arms_per_user=values.arms_per_user,
            allow_origins=values.origins(),
        ),
        files,
    )


def _tls(values: WebXrArguments) -> ssl.SSLContext | None:
    """
    Return certificate and key, None without TLS.

    :raises BadCertificate: when they cannot be read, or do not match.
    """
    from urlab_ros_bridge.gateways.virtual_field.serving import certificate

    if values.cert:
        return certificate.tls_context(values.cert, values.key)
    if not values.self_signed:
        return None
    folder = certificate.data_folder()
    cert, private = certificate.own_certificate(folder, certificate.own_addresses())
    logging.getLogger(__name__).info(
        'the certificate is self-signed: a browser warns once; choose "Advanced" and proceed when '
        'it shows the SHA-256 fingerprint %s',
        certificate.fingerprint(cert),
    )
    return certificate.tls_context(str(cert), str(private))


def run(given: ParsedArguments[WebXrArguments]) -> int:
    """Serve until a signal comes."""
    values = given.values
    logger = set_up_logging(values.log_level)
    gateway = make_gateway(values)
    if values.is_open:
        logger.warning('--insecure: anyone who can reach %s can drive the robot', values.bind)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    serve_until_signal(
        gateway, values.timeout, lambda: f'{READY_LINE}: {gateway.url} {gateway.describe()}'
    )
    return 0


COMMAND = Command(
    name='webxr',
    summary='Show a simulation in browsers and headsets (Virtual Field protocol).',
    text='Show a running simulation in browsers and headsets, and let users teleoperate its arms\n'
    'and bases. One port serves the page and the Virtual Field protocol over a WebSocket. Works\n'
    'with any URLab server; needs no ROS. Prints "urlab webxr ready" when browsers can connect.',
    section=WebXrArguments,
    run=run,
    handles_signals=True,
    examples=(
        ('urlab webxr', 'then open http://127.0.0.1:8766'),
        ('urlab webxr --bind 0.0.0.0 --token SECRET', 'for other machines on the network'),
        (
            'urlab webxr --bind 0.0.0.0 --token SECRET --self-signed',
            'for headsets: they require https',
        ),
    ),
)
