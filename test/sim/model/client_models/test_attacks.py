# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server that tries a model ends when asked, and keeps no world that was replaced."""

from concurrent.futures import ThreadPoolExecutor
import gc
import signal
import weakref

from lifelines import ends
import numpy as np
import pytest
from spawn_models import BOX
from urlab_programs import ANY_PORTS
from urlab_programs import family
from urlab_programs import port_of
from urlab_programs import program
from waiting import wait_until

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.model.client_models import limits


def heavy():
    """Return a model within all limits of numbers whose hull takes a second."""
    points = np.random.default_rng(1).normal(size=(50_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    text = ' '.join(f'{value:.4f}' for value in points.ravel())
    return (
        f'<mujoco><asset><mesh name="m" vertex="{text}"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )


def test_a_server_that_is_compiling_a_model_stops_at_once(tmp_path):
    (tmp_path / 'heavy.xml').write_text(heavy())  # larger than a request
    words = ('server', '--speed=10', f'--data-dir={tmp_path}', *ANY_PORTS)
    with (
        program(*words) as (process, line),
        Client(rpc_port=port_of(line), shared=True, timeout=90.0) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        client.spawn_entity('box', xml=BOX)
        slow = pool.submit(client.spawn_entity, 'hull', file='heavy.xml', timeout=100.0)
        wait_until(lambda: len(family(process.pid)) > 2)
        left = family(process.pid)[1:]
        process.send_signal(signal.SIGINT)
        # Long before the limit of the trial, and not by the alarm of a server that hangs.
        assert process.wait(limits.CPU_SECONDS / 2) == 0
        with pytest.raises(RemoteError, match='shutting_down'):
            slow.result()
    assert all(map(ends, left))


def test_a_replaced_world_is_freed_at_once(server, connect):
    """Without the collector: nothing holds it in a circle, nothing remembers it."""
    running = server(world='fleet')
    socket = connect(running, timeout=60.0, shared=True)
    gc.collect()
    gc.disable()
    try:
        for op, fields in (
            ('spawn_entity', {'name': 'thing', 'xml': BOX}),
            ('delete_entity', {'entity': 'thing'}),
            ('spawn_entity', {'name': 'thing', 'file': 'rover.yaml'}),
            ('delete_entity', {'entity': 'thing'}),
        ):
            gone = weakref.ref(running.simulation.world)
            socket.ask(op, **fields)
            # The thread that has answered may still hold a reference.
            wait_until(lambda gone=gone: gone() is None)
    finally:
        gc.enable()
