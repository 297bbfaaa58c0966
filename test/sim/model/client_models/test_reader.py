# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of the files of client models are private; a replaced world is forgotten."""

import gc
from pathlib import Path
import stat
import weakref

from lasting_trial import with_lasting_trial
from spawn_models import BOX
from spawn_models import TETRAHEDRON
from waiting import wait_until

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.simulation import SimulationHost

MESH = (
    '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><freejoint/>'
    '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
)


def test_files_are_copied_into_a_private_folder_that_is_removed_with_the_server(tmp_path):
    host = with_lasting_trial(SimulationHost(ServerConfig(data_dir=tmp_path)))
    for name in ('a.obj', 'b.obj'):
        (tmp_path / name).write_text(TETRAHEDRON)
    first, second = (
        Path(host.client_models.of_text(MESH.format(name)).spec.meshes[0].file)
        for name in ('a.obj', 'b.obj')
    )
    assert first == second, 'of the same content'
    assert first.read_text() == TETRAHEDRON and tmp_path not in first.parents
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    host.client_models.close()
    assert not first.parent.exists()


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
