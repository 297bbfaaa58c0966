# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The inbound control stream and the info stream of the stock plugin."""

from __future__ import annotations

from collections.abc import Callable
import json
import socket
import struct
import time
from typing import Any

from urlab_ros_bridge.conformance.channels.zmq_raw import ControlSender
from urlab_ros_bridge.conformance.channels.zmq_raw import host_and_port
from urlab_ros_bridge.conformance.channels.zmq_raw import RowListener
from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.checks.stepping.step_forces import controlled
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.model import Robot
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

ZMQ = ('zmq',)


def reachable(endpoint: str | None, what: str) -> str:
    """Return an endpoint with a listener."""
    if not endpoint:
        raise skip(f'the server has no {what} stream')
    host, port = host_and_port(endpoint, 0)
    try:
        socket.create_connection((host, port), 1.0).close()
    except OSError as error:
        raise skip(f'nothing listens at {endpoint} ({error})') from None
    return endpoint


def _driven(peer: Peer) -> Robot:
    return peer.robot(
        lambda robot, block: robot.actuators and 'controller' not in block,
        'with actuators and without controller',
    )[0]


def control_payload(robot: Robot, value: float) -> bytes:
    """Return one value for every actuator, by global id."""
    pairs = b''.join(struct.pack('<if', number, value) for number, _ in robot.actuators)
    return struct.pack('<i', len(robot.actuators)) + pairs


def repeat_until(send: Callable[[], None], holds: Callable[[], bool], seconds: float) -> bool:
    """Send again and again until something holds; a PUB socket connects when it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        send()
        time.sleep(0.02)
        if holds():
            return True
    return False


def _ctrl(peer: Peer, robot: Robot) -> list[float]:
    return peer.call('step')['per_articulation'][robot.prefix]['ctrl']


@check('control.setpoints', PLUGIN, 'control stream', modes=LIVE, transports=ZMQ)
def setpoints(peer: Peer) -> None:
    """In live mode "PREFIX/control " with int32 count and (int32 id, float32 value) sets ctrl."""
    endpoint, robot = reachable(peer.places.control, 'control'), _driven(peer)
    with ControlSender(endpoint, peer.protect) as speaker:
        came = repeat_until(
            lambda: speaker.send(f'{robot.prefix}/control '.encode(), control_payload(robot, 0.3)),
            lambda: all(abs(value - 0.3) < 1e-5 for value in _ctrl(peer, robot)),
            2.0,
        )
    expect(came, 'ctrl 0.3 within 2 s', _ctrl(peer, robot))


@check('control.discarded', PLUGIN, 'control stream', modes=DIRECT, transports=ZMQ)
def discarded(peer: Peer) -> None:
    """In direct mode messages are discarded, then and after a return to live."""
    endpoint, robot = reachable(peer.places.control, 'control'), _driven(peer)
    with ControlSender(endpoint, peer.protect) as speaker:
        changed = repeat_until(
            lambda: speaker.send(f'{robot.prefix}/control '.encode(), control_payload(robot, 0.4)),
            lambda: any(abs(value - 0.4) < 1e-5 for value in _ctrl(peer, robot)),
            0.3,
        )
    expect(not changed, 'ctrl as it was', _ctrl(peer, robot))


@check('control.set_gains', PLUGIN, 'control stream', modes=LIVE, transports=ZMQ)
def set_gains(peer: Peer) -> None:
    """ "PREFIX/set_gains " with JSON {actuator: {kp, kv, torque_limit}} patches the controller."""
    endpoint, (robot, _) = reachable(peer.places.control, 'control'), controlled(peer)
    name, prefix = robot.actuators[0][1], robot.prefix

    def params() -> dict:
        return peer.call('configure_controller', articulation=prefix, params={})['params']

    before = params()
    old = before['kp'].get(name, before['default_kp'])
    text = json.dumps({name: {'kp': old + 7.0}}).encode()
    try:
        with ControlSender(endpoint, peer.protect) as speaker:
            came = repeat_until(
                lambda: speaker.send(f'{prefix}/set_gains '.encode(), text),
                lambda: abs(params()['kp'].get(name, 0.0) - old - 7.0) < 1e-3,
                2.0,
            )
        expect(came, f'kp {old + 7.0} of {name} within 2 s', params()['kp'])
    finally:
        patch = {'kp': {name: old}}
        peer.ask('configure_controller', articulation=prefix, params=patch)


@check('info.actuators', PLUGIN, 'info stream', modes=LIVE, transports=ZMQ)
def info(peer: Peer) -> None:
    """The info stream sends, in JSON of one part, the actuators of every articulation."""
    with RowListener(reachable(peer.places.info, 'info'), protect=peer.protect) as listener:
        end = time.monotonic() + 3.0
        reported: dict[str, dict[str, Any]] = {}
        while len(reported) < len(peer.blocks) and time.monotonic() < end:
            message = listener.receive(0.5)
            if message is None:
                continue
            equal('parts', len(message), 1)
            try:
                value = json.loads(message[0])
            except ValueError as error:
                raise Failed('JSON', str(error)) from None
            equal('type', value.get('type'), 'actuator_list')
            reported[field(value, 'robot', 'text')] = value
    if not reported:
        raise Failed('a message within 3 s', 'none')
    for prefix, robot in peer.model.robots.items():
        if prefix in reported:
            equal('ids', field(reported[prefix], 'ids', 'array'), [n for n, _ in robot.actuators])
            names = [f'{prefix}_{name}' for _, name in robot.actuators]
            equal('names', field(reported[prefix], 'names', 'array'), names)
            for bound, sign in (('mins', 0), ('maxs', 1)):
                values = field(reported[prefix], bound, 'vector', len(names))
                for (number, name), value in zip(robot.actuators, values, strict=True):
                    mj = peer.model.mj
                    limited = bool(mj.actuator_ctrllimited[number])
                    expected = (
                        mj.actuator_ctrlrange[number][sign] if limited else (-100, 100)[sign]
                    )
                    close(f'{bound} of {name}', value, float(expected), 1e-3)
