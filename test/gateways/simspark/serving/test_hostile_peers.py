# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Peers that never read, stop halfway, reset their connections or send NaN change nothing.

A game with them is played beside the same one without: what an agent perceives is the same,
character by character, and a monitor misses no message.
"""

from collections import Counter
from contextlib import contextmanager
from contextlib import nullcontext
from contextlib import suppress
import threading

from bundled_server import simulation
import numpy as np
import pytest

from test.gateways.simspark.conftest import gateway_at
from test.gateways.simspark.peers import RawPeer
from test.gateways.simspark.peers import wait_until
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.client import MonitorClient
from urlab_ros_bridge.gateways.simspark.client.clients import ServerGone
from urlab_ros_bridge.gateways.simspark.monitor.viewers import PERIOD

NAN_COMMANDS = (
    '(ball (pos nan 0 1))(ball (vel 0 inf 0))((ball (pos 0 0 -nan))(getAck never))',
    '(agent (unum 1)(team Left)(pos nan nan nan))(agent (unum 1)(team Left)(move 0 0 1 nan))',
    '(time nan)(score (left nan)(right 1))',
)
NAN_EFFECTORS = '(he1 nan)(lle3 inf)(beam nan 0 0)(lle4 1e999)(nan)'


class HeldAgents(Agents):
    """Agents for whom no time passes before all are there."""

    all_there = False

    @property
    def is_waiting(self):
        return not self.all_there or super().is_waiting

    @property
    def ready(self):
        """Return how many have their robots, and how many of these have said (syn)."""
        playing = [agent for agent in list(self._agents.values()) if agent.played is not None]
        return len(playing), sum(agent.syncs for agent in playing)


@contextmanager
def hostile_peers(gateway, opponent):
    """Disturb both ports until the end: connections that stay, and ever new ones."""
    ports = gateway.agent_port, gateway.monitor_port
    deaf = [RawPeer(port, receive_buffer=4096) for port in ports * 3]
    halves = [RawPeer(port) for port in ports]
    for peer in halves:
        peer.socket.sendall(b'\x00\x00\x00\x40(ball (pos 1')
    trainer = RawPeer(gateway.monitor_port, receive_buffer=4096)
    over = threading.Event()
    sent = Counter()

    def disturb():
        while not over.is_set():
            for text in NAN_COMMANDS:
                trainer.say(text)
            opponent.say(NAN_EFFECTORS)
            sent['messages of NaN'] += len(NAN_COMMANDS) + 1
            for port in ports:
                with suppress(OSError):  # the gateway's backlog may be full
                    peer = RawPeer(port)
                    peer.say('(reqfullstat')
                    peer.reset()
                    sent['resets'] += 1
            over.wait(0.01)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield sent
    finally:
        over.set()
        thread.join()
        for peer in (*deaf, *halves, trainer):
            peer.close()


class Watcher(threading.Thread):
    """A monitor that reads everything; `times` are those of its messages."""

    def __init__(self, monitor):
        super().__init__()
        self.monitor = monitor
        self.times = []

    def run(self):
        with suppress(ServerGone, OSError):
            while True:
                self.times.append(self.monitor.update().time)


def frames(times):
    """Return the numbers of the frames with these times, each once."""
    return sorted({int(time / PERIOD + 0.25) for time in list(times)})


def game(cycles, hostile):
    """Return what an agent perceived, when a monitor heard, its last view, and what was sent."""
    agents = HeldAgents(AgentOptions(vision_cycles=1))
    with (
        simulation('soccer', cameras='off', step_mode='direct') as port,
        gateway_at(port, agents, pace='free') as gateway,
        MonitorClient(port=gateway.monitor_port, timeout=60) as monitor,
    ):
        player, opponent = (RawPeer(gateway.agent_port) for _ in range(2))
        player.say('(scene rsg/agent/nao/nao.rsg)')
        player.say('(init (unum 1)(teamname Ours))')
        player.say('(syn)')
        wait_until(lambda: agents.ready == (1, 1))
        opponent.say('(scene rsg/agent/nao/nao.rsg)')
        opponent.say('(init (unum 1)(teamname Theirs))')
        wait_until(lambda: agents.ready == (2, 1))
        monitor.command(['playMode', 'PlayOn'], ['ball', ['pos', 1, 0, 0.5], ['vel', 1, 1, 0]])
        watcher = Watcher(monitor)
        watcher.start()
        heard = []
        with hostile_peers(gateway, opponent) if hostile else nullcontext() as sent:
            agents.all_there = True
            for cycle in range(cycles):
                heard.append(player.hear())
                player.say(f'(he1 {0.5 if cycle % 100 < 50 else -0.5})(lae1 0.1)(syn)')
            heard.append(player.hear())
            wait_until(lambda: len(frames(watcher.times)) >= cycles // 2 - 1)
        seen = {key: np.array(node.matrix) for key, node in monitor.view.players.items()}
        ball = monitor.view.ball
        for peer in (player, opponent):
            peer.close()
    watcher.join()
    return heard, watcher.times, (ball, seen), sent


def check(cycles):
    quiet, times, view, _ = game(cycles, hostile=False)
    disturbed, times_then, view_then, sent = game(cycles, hostile=True)
    assert sent['resets'] > 4 and sent['messages of NaN'] > 8
    assert disturbed == quiet
    for found in (times, times_then):
        new = frames(found)
        assert new == list(range(new[0], new[-1] + 1)) and len(new) >= cycles // 2 - 1
    np.testing.assert_allclose(view[0], view_then[0], atol=0.05)
    assert view[1].keys() == view_then[1].keys()
    return len(disturbed), len(times_then), sent


def test_hostile_peers_change_nothing():
    check(100)


@pytest.mark.long
def test_hostile_peers_change_nothing_in_a_minute(capsys):
    percepts, messages, sent = check(3000)
    with capsys.disabled():
        counts = ', '.join(f'{count} {what}' for what, count in sent.items())
        print(f'{percepts} percepts alike, {messages} messages; {counts}')
