# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server: whether one responds and publishes its state, or else whether one could start."""

from __future__ import annotations

from collections.abc import Mapping
import time
from typing import Any

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.ports import port_holder
from urlab_ros_bridge.cli.status import sessions_text
from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.wire.addresses import is_loopback
from urlab_ros_bridge.wire.errors import UrlabError

OWN_NAME = 'urlab doctor'


def check_ports(ports: Mapping[str, int]) -> list[Finding]:
    """Check that a server could be started on this machine."""
    findings = []
    for name, port in ports.items():
        subject = f'port {port}'
        if can_bind('127.0.0.1', port):
            findings.append(Finding(Severity.OK, subject, f'free ({name})'))
            continue
        holder = port_holder(port) or 'another program'
        advice = 'stop it, or move all ports of your simulation with --port-offset 10'
        findings.append(Finding(Severity.FAIL, subject, f'in use by {holder}', advice))
    return findings


def describe(handshake: Handshake, status: Mapping[str, Any] | None) -> str:
    """Return a description of the server."""
    robots = ', '.join(handshake.articulations) or 'none'
    words = [
        handshake.urlab_version or 'unknown version',
        f'MuJoCo {handshake.mujoco_version or "unknown"}',
        f'robots: {robots}',
    ]
    if status is not None:
        state = ', paused' if status.get('paused') else ''
        words.insert(0, f'world {status.get("world")}')
        words.append(f'{status.get("mode")} mode{state}')
        words.append(sessions_text(status.get('sessions'), OWN_NAME))
    return '; '.join(words)


def receives_state(host: str, state_port: int, timeout: float, keys: KeySource = None) -> bool:
    """Return whether anything arrives on the state stream within `timeout` seconds."""
    with StateStream(host, state_port, keys=keys, backlog=1) as stream:
        deadline = time.monotonic() + timeout
        while stream.stats.rows == 0 and time.monotonic() < deadline:
            stream.receive(min(timeout, 0.1))
        return stream.stats.rows > 0


def check_stream(
    host: str,
    state_port: int,
    timeout: float,
    status: Mapping[str, Any] | None,
    keys: KeySource = None,
) -> Finding:
    """Check that the server publishes its state, and suggest why it may not."""
    subject = f'port {state_port}'
    if receives_state(host, state_port, timeout, keys):
        return Finding(Severity.OK, subject, 'the server publishes its state')
    advice = 'check that --state-port is the one the server was started with'
    mode = (status or {}).get('mode')
    if mode in ('direct', 'puppet'):
        advice = (
            f'the server is in {mode} mode and advances only when a client steps it; '
            'to run in real time, set the mode to live'
        )
    return Finding(Severity.WARN, subject, f'no state within {timeout:g} s', advice)


def check_server(
    host: str, rpc_port: int, state_port: int, timeout: float, keys: KeySource = None
) -> list[Finding] | None:
    """
    Query a server without disturbing its clients; return None when there is no reply.

    A server without shared sessions is only asked for its capabilities: a second handshake would
    take the session from its client.
    """
    subject = f'server {host}:{rpc_port}'
    client = Client(host, rpc_port, shared=True, name=OWN_NAME, timeout=timeout, keys=keys)
    status = None
    try:
        if not client.supports_shared_sessions():
            found = Finding(
                Severity.OK,
                subject,
                'responds; it has no shared sessions, so nothing else was requested',
                'run the bridge with -p observe_only:=true beside another client',
            )
            return [found, check_stream(host, state_port, timeout, None, keys)]
        handshake = client.connect()
        status = client.status().raw
        found = Finding(Severity.OK, subject, describe(handshake, status))
    except RemoteError as error:
        found = Finding(Severity.WARN, subject, f'responds with an error: {error}')
    except TimeoutError:
        return None
    except UrlabError as error:
        found = Finding(
            Severity.FAIL, subject, str(error), 'check that a URLab server listens there'
        )
    finally:
        client.close()
    return [found, check_stream(host, state_port, timeout, status, keys)]


def check_all(
    host: str, ports: Mapping[str, int], timeout: float, keys: KeySource = None
) -> list[Finding]:
    """
    Check a running server, or that one could be started.

    :param ports: by the names of their arguments.
    :param timeout: time limit for replies (s).
    :param keys: keys of the server, if it requires some.
    """
    server = check_server(host, ports['rpc_port'], ports['state_port'], timeout, keys)
    if server is not None:
        return server
    subject = f'server {host}:{ports["rpc_port"]}'
    if is_loopback(host):
        none = Finding(Severity.OK, subject, 'none is running ("urlab up" starts one)')
        return [none, *check_ports(ports)]
    advice = (
        'check that it runs, that it listens on more than loopback (--bind), and that no firewall '
        'blocks it'
    )
    return [Finding(Severity.FAIL, subject, f'no response within {timeout:g} s', advice)]
