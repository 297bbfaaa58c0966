# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controllers move arms and bases, and nothing else does."""

import contextlib
import threading
import time

from bundled_server import simulation
import numpy as np
import pytest
from waiting import wait_until
from websockets.exceptions import ConnectionClosed

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.virtual_field.steering import operator

PATIENCE = 60.0


def tip(scene, arm_id):
    return np.array(scene['arms'][arm_id]['tip']['translation'])


def tip_at_rest(watcher, arm):
    """Return where a tip is when it has arrived, which takes longer on a busy machine."""
    deadline, place = time.monotonic() + PATIENCE, tip(watcher.newest(), arm)
    while time.monotonic() < deadline:
        time.sleep(0.3)
        before, place = place, tip(watcher.newest(), arm)
        if np.linalg.norm(place - before) < 1e-3:
            return place
    raise AssertionError(f'{arm} still moves')


def keep_reading(user):
    """Take all that a user is sent, as a page does: who does not is listened to late."""

    def run():
        with contextlib.suppress(ConnectionClosed, OSError, TimeoutError):
            while True:
                user.socket.recv(timeout=PATIENCE)

    threading.Thread(target=run, daemon=True).start()
    return user


@pytest.fixture
def home(bimanual):
    with Client(rpc_port=bimanual, shared=True) as client:
        client.connect()
        client.reset('home')
        yield client


class Hand:
    """Sends a moving hand at 30 Hz from its own thread."""

    def __init__(self, client, way, side='left', **fields):
        self._stop = threading.Event()

        def send(now):
            at = np.array([0.3, 1.2, -0.2]) + way(now)
            client.steer(now, **{side: {'at': at.tolist(), 'grip': 1.0, **fields}})

        def run():
            while not self._stop.wait(1 / 30):
                send(time.monotonic() - self.began)

        send(0.0)  # on a busy machine the thread begins late, and the way would have begun
        self.began = time.monotonic()
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def test_two_users_steer_at_once_grip_and_let_go_alone(join, home):
    one, two = (
        keep_reading(join('vr_client', character_mode='bimanual', requested_arm_count=1))
        for _ in range(2)
    )
    watcher = join('spectator')
    a, b = one.ack['arm_ids'][0], two.ack['arm_ids'][0]
    watcher.scene(lambda seen: {a, b} <= set(seen['arms']))
    starts = tip_at_rest(watcher, a), tip_at_rest(watcher, b)

    def fingers():
        return home.step().articulations['bimanual'].qpos[6]

    open_at = fingers()

    def step(now):
        return np.array([0.0, 0.08 * min(1.0, now), 0.0])

    def moved(scene, arm, start):
        return abs((tip(scene, arm) - start)[1] - 0.08) < 0.01

    with Hand(one, step, trigger=1.0), Hand(two, step, 'right'):
        watcher.scene(lambda seen: moved(seen, a, starts[0]) and moved(seen, b, starts[1]))
        wait_until(lambda: fingers() < 0.5 * open_at)  # those of the left arm
        tip_at_rest(watcher, a)
    # Without a grip the hand moves and the tip does not.
    with Hand(one, lambda now: np.array([0.3 * now, 0.0, 0.0]), grip=0.0) as hand:
        wait_until(lambda: time.monotonic() - hand.began > 0.7)
        at = watcher.newest()
    assert moved(at, a, starts[0])
    assert moved(at, b, starts[1])


def test_recall_brings_the_arm_back(join, home, monkeypatch):
    monkeypatch.setattr(operator, 'SILENCE', 30.0)  # on a busy machine it would end the recall
    user = keep_reading(join('vr_client', character_mode='two-cr'))
    watcher = join('spectator')
    arm = user.ack['arm_ids'][0]
    start = tip(watcher.scene(lambda seen: arm in seen['arms']), arm)

    def up(now):
        return np.array([0.0, 0.1 * min(1.0, now), 0.0])

    with Hand(user, up):
        watcher.scene(lambda seen: tip(seen, arm)[1] - start[1] > 0.08)
    with Hand(user, up, grip=0.0, buttons={'secondary': True}):
        watcher.scene(lambda seen: np.linalg.norm(tip(seen, arm) - start) < 0.01)


def test_after_silence_a_new_sample_starts_from_the_present_tip(join, home, monkeypatch):
    monkeypatch.setattr(operator, 'SILENCE', 0.5)
    user = keep_reading(join('vr_client', character_mode='two-cr'))
    watcher = join('spectator')
    arm = user.ack['arm_ids'][0]
    start = tip(watcher.scene(lambda seen: arm in seen['arms']), arm)
    for index in range(20):
        user.steer(index / 30, left={'at': [0.0, 1.0 + 0.003 * index, 0.0], 'grip': 1.0})
        time.sleep(1 / 30)
    time.sleep(1.0)
    still = tip_at_rest(watcher, arm)
    assert still[1] > start[1] + 0.02
    # Somewhere else, but the grip was let go by the silence: the tip starts from where it is.
    for index in range(20):
        user.steer(2 + index / 30, left={'at': [0.5, 0.5, 0.5], 'grip': 1.0})
        time.sleep(1 / 30)
    assert np.linalg.norm(tip(watcher.newest(), arm) - still) < 0.01


def test_sticks_drive_a_base_until_silence_or_the_end(monkeypatch):
    monkeypatch.setattr(operator, 'SILENCE', 0.7)
    with (
        simulation('rover', cameras='off') as port,
        field_at(port) as gateway,
        Client(rpc_port=port, shared=True) as client,
    ):
        client.connect()

        def speed():
            return np.linalg.norm(client.step().articulations['rover'].qvel[:2])

        with FieldClient(gateway.url, 'vr_client', character_mode='rover') as user:
            assert user.ack['arm_ids'] == []
            with Hand(user, lambda _: np.zeros(3), joystick=[0.0, -1.0]):
                wait_until(lambda: speed() > 0.5)
            wait_until(lambda: speed() < 0.02)
            # Whoever leaves stops too.
            monkeypatch.setattr(operator, 'SILENCE', 1e9)
            user.steer(9.0, left={'joystick': [0.0, -1.0]})
            wait_until(lambda: speed() > 0.3)
        wait_until(lambda: speed() < 0.02)
