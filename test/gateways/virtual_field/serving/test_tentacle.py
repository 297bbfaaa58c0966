# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A soft arm in scene_state: its centerline and frames bend smoothly while its tip moves."""

import time

import numpy as np

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from test.gateways.virtual_field.programs import simulation
from urlab_ros_bridge.client import Client

PATIENCE = 60.0


def check_smooth(arm):
    line, frames = np.array(arm['centerline']), np.array(arm['directors'])
    assert len(line) == 15 and len(frames) == 14
    # Rows are unit vectors, right-handed, and turn little from one element to the next.
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, atol=1e-3)
    assert ((frames[1:] * frames[:-1]).sum(axis=2) > np.cos(0.8)).all()
    assert (np.diff(arm['radii']) < 0).all()


def test_the_tentacle_bends_smoothly_and_follows_the_hand():
    with simulation('tentacle') as port, field_at(port) as gateway:
        with Client(rpc_port=port, shared=True) as client:
            client.connect()
            client.reset('home')
        with (
            FieldClient(gateway.url, 'vr_client', character_mode='two-cr') as user,
            FieldClient(gateway.url, 'spectator') as watcher,
        ):
            (arm_id,) = user.ack['arm_ids']
            assert user.ack['controlled_arm_ids'] == [arm_id, arm_id]
            arm = watcher.scene(lambda seen: arm_id in seen['arms'])['arms'][arm_id]
            check_smooth(arm)
            start = np.array(arm['tip']['translation'])
            wanted = np.add(start, (0.1, -0.12, 0.08))
            began = time.monotonic()
            while np.linalg.norm(np.array(arm['tip']['translation']) - wanted) > 0.015:
                now = time.monotonic() - began
                assert now < PATIENCE, arm['tip']
                share = min(1.0, now / 2)
                at = [0.1 * share, 1.0 - 0.12 * share, 0.08 * share]
                user.steer(now, right={'at': at, 'grip': 1.0})
                arm = watcher.newest()['arms'][arm_id]
                check_smooth(arm)
