# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""include_assets: the model as text with its files, to be loaded offline."""

from __future__ import annotations

from xml.etree import ElementTree

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

ZMQ = ('zmq',)
SECTION = 'include_assets'


def _text(reply: dict) -> ElementTree.Element:
    text = field(reply, 'mjcf_compiled', 'text')
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise Failed('XML in mjcf_compiled', str(error)) from None


@check('assets.opt_in', PROTOCOL, SECTION, 'Opt-in', transports=ZMQ)
def opt_in(peer: Peer) -> None:
    """Without include_assets the handshake carries no assets."""
    for request in ({'observations': 'standard'}, {'include_assets': False}):
        reply = peer.hello(**request)
        for name in ('mjcf_compiled', 'vfs_assets'):
            expect(name not in reply, f'no {name} with {request}', f'{name} is there')


@check('assets.fields', PROTOCOL, SECTION, 'hello_ok also carries', transports=ZMQ)
def fields(peer: Peer) -> None:
    """With include_assets there are mjcf_compiled (XML text) and vfs_assets (binary by name)."""
    reply = peer.hello(include_assets=True)
    equal('root of mjcf_compiled', _text(reply).tag, 'mujoco')
    for name, data in field(reply, 'vfs_assets', 'object').items():
        expect(isinstance(data, bytes), f'bin for {name}', type(data).__name__)


@check(
    'assets.bare_filenames', PROTOCOL, SECTION, 'flattened to bare filenames', transports=ZMQ,
)  # fmt: skip
def bare_filenames(peer: Peer) -> None:
    """Files that mjcf_compiled refers to are bare names, and vfs_assets has each of them."""
    reply = peer.hello(include_assets=True)
    assets = field(reply, 'vfs_assets', 'object')
    files = (element.get('file') for element in _text(reply).iter())
    names = [file for file in files if file]
    if not names:
        raise skip('the model is made of no files')
    for name in names:
        expect('/' not in name and '\\' not in name, 'a bare filename', name)
        expect(name in assets, f'{name} in vfs_assets', sorted(assets))


@check('assets.reload', PROTOCOL, SECTION, 'reload the model fully offline', transports=ZMQ)
def reload(peer: Peer) -> None:
    """MuJoCo compiles mjcf_compiled with vfs_assets to a model of the same sizes and names."""
    reply = peer.hello(include_assets=True)
    ours = peer.model.mj
    try:
        import mujoco
    except ImportError:
        raise skip('MuJoCo is not installed here: run "urlab setup"') from None
    try:
        theirs = mujoco.MjModel.from_xml_string(
            field(reply, 'mjcf_compiled', 'text'), field(reply, 'vfs_assets', 'object')
        )
    except (ValueError, RuntimeError) as error:
        raise Failed('a text that compiles', str(error)) from None
    for size in ('nq', 'nv', 'nu', 'nbody', 'njnt', 'nsensor', 'nmocap', 'nkey'):
        equal(size, getattr(theirs, size), getattr(ours, size))
    names = [[model.body(i).name for i in range(model.nbody)] for model in (theirs, ours)]
    equal('body names', names[0], names[1])
