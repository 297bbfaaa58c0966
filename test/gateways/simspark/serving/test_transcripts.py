# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Whole conversations, character by character, with the examples of the page in them.

A file of `transcripts/` has a line for each message: what the client sends after ``>``, what it
gets after ``<``.  ``#`` is simulated time.  Time stands still or nothing moves in it, so between
those lines there are messages without news only.
"""

from pathlib import Path
import re

from bundled_server import simulation
import mujoco
import numpy as np
import pytest

from test.gateways.running import simspark_at
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.monitor import viewers
from urlab_ros_bridge.gateways.simspark.serving import cycle

TRANSCRIPTS = Path(__file__).parent / 'transcripts'
WORLDS = Path(__file__).parent / 'worlds'
WORLD = {'world': '', 'model': WORLDS / 'world.yaml', 'cameras': 'off'}


@pytest.fixture(scope='module')
def still():
    """Return the RPC port of the world, in which time stands still."""
    with (
        simulation(**WORLD) as port,
        Client(rpc_port=port) as client,
    ):
        client.set_paused(True)
        yield port


def lines(name):
    text = (TRANSCRIPTS / f'{name}.txt').read_text()
    return [(line[0], line[2:]) for line in text.splitlines() if line[:2] in ('> ', '< ')]


def follow(peer, name, has_no_news, mask=lambda text: text):
    """Say and hear what a transcript has."""
    for sign, text in lines(name):
        if sign == '>':
            peer.send(text)
            continue
        heard = mask(peer.receive())
        while heard != text:
            assert has_no_news(heard), f'{heard}\ninstead of\n{text}'
            heard = mask(peer.receive())


def test_a_monitor_and_trainer(still, peer, monkeypatch):
    monkeypatch.setattr(viewers, '_REPEATS', ())  # they come by the wall clock
    monkeypatch.setattr(cycle, 'BUDGET', 60.0)  # no message of the scene comes between commands
    with simspark_at(still) as gateway:
        follow(
            peer(gateway.monitor_port),
            'monitor',
            lambda text: re.fullmatch(r'\(\(time [\d.]+\)\)\(RDS 0 1\)[^.\d]*', text),
        )


def test_an_agent(peer):
    agents = Agents(AgentOptions(vision_cycles=1, ground_truth=True))
    with (
        simulation(**WORLD) as port,
        simspark_at(port, agents, pace='free') as gateway,
    ):
        said = [text for sign, text in lines('agent') if sign == '<']
        follow(
            peer(gateway.agent_port),
            'agent',
            lambda text: text in said or text.replace('(unum 1) (team left) ', '') in said,
            lambda text: re.sub(r'\(now \d+\.\d{3}\)', '(now #)', text),
        )


def test_a_mesh_is_the_box_of_its_bounds(urlab, watch):
    with simulation('', model=WORLDS / 'wedge.xml', cameras='off') as port:
        model = urlab(port).handshake.model
        with simspark_at(port) as gateway:
            view = watch(gateway).view
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ((pose, mesh),) = [
        (body.matrix @ node.matrix, node.children[0])
        for top in view.nodes
        for body in top.children
        for node in body.children
        if node.children
    ]
    # The corners of the mesh, by MuJoCo, in the axes of the box: they fill it.
    wedge = data.geom('wedge')
    corners = np.asarray(model.mesh_vert) @ wedge.xmat.reshape(3, 3).T + wedge.xpos
    inside = (corners - pose[:3, 3]) @ pose[:3, :3]
    half = np.array(mesh.details['sSc'], float) / 2
    assert mesh.details['load'] == ['StdUnitBox']
    np.testing.assert_allclose(inside.max(axis=0), half, atol=1e-4)
    np.testing.assert_allclose(inside.min(axis=0), -half, atol=1e-4)
