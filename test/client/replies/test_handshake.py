# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Handshakes of stock servers and of ours, and total parsing."""

import contextlib
import sys

from example_counts import examples
from fake_server import articulation
from fake_server import FakeServer
from fake_server import floats
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.handshake import load_model
from urlab_ros_bridge.client.replies.handshake import parse_handshake


@pytest.fixture(scope='module')
def reply():
    with FakeServer(shared=False) as server:
        return server.hello({'op': 'hello'})


def full_articulation():
    return {
        **articulation('rover'),
        'controller': {'kind': 'pd', 'params': {}, 'schema': {}},
        'twist_controller': {'kind': 'differential', 'limits': {'linear': 1.5}, 'timeout': 0.5},
        'lidars': {
            'scan': {
                'angle_min': -3.0,
                'angle_max': 3.0,
                'range_min': 0.1,
                'range_max': 12.0,
                'rate': 10,
                'rays': 360,
                'site': 'scan_link',
            }
        },
        'frames': {'base': 'base_link'},
        'covariances': {'orientation_stddev': 0.01},
    }


def test_a_stock_handshake_has_the_defaults_of_a_stock_server(reply):
    stock = parse_handshake({**floats(reply), 'mjb_base64': 'AG1qYg==', 'extensions': None})
    assert stock.depth_unit == 'cm' and stock.extensions == frozenset()
    assert stock.timestep is None and stock.world == ''
    assert stock.mjb == b'\0mjb' and 'mjb_base64' not in stock.raw
    robot = stock.articulations['rover']
    assert robot.twist_controller is None and robot.lidars == {} and robot.controller == {}
    pallet = stock.entities['pallet']
    assert (pallet.id, pallet.qpos_offset, pallet.free_joint) == (12, 7, '')
    assert isinstance(pallet.id, int)


def test_only_the_port_of_a_camera_endpoint_counts(reply):
    camera = parse_handshake(floats(reply)).articulations['rover'].cameras['front']
    assert camera.port == 5558 and camera.resolution == (32, 24) and camera.mode == 'depth'
    assert camera.topic == 'rover/camera/front'


@pytest.mark.parametrize(
    'endpoint',
    ['', None, 'ipc:///tmp/x', 'tcp://host:', 'tcp://h:9999999', 'tcp://h:65536', 'tcp://h:0'],
)
def test_a_camera_without_a_tcp_endpoint_has_no_port(reply, endpoint):
    robot = articulation()
    robot['camera_topics']['front']['zmq_endpoint'] = endpoint
    parsed = parse_handshake({**reply, 'articulations': [robot]})
    assert parsed.articulations['rover'].cameras['front'].port is None


def test_extensions_are_read(reply):
    parsed = parse_handshake(
        {
            **reply,
            'articulations': [full_articulation()],
            'depth_unit': 'm',
            'extensions': ['shared_session'],
            'timestep': 0.002,
            'world': 'w',
        }
    )
    robot = parsed.articulations['rover']
    assert robot.twist_controller.limits == {'linear': 1.5}
    assert robot.lidars['scan'].rays == 360 and robot.frames['base'] == 'base_link'
    assert parsed.extensions == {'shared_session'} and parsed.timestep == 0.002


def test_an_editor_handshake_without_a_world(reply):
    parsed = parse_handshake(
        {'op': 'hello_ok', 'session_id': 'x', 'manager_present': False, 'articulations': []}
    )
    assert not parsed.manager_present and parsed.articulations == {}
    with pytest.raises(ModelUnavailable, match='no compiled model'):
        _ = parsed.model


@pytest.mark.parametrize(
    ('change', 'named'),
    [
        ({'session_id': None}, 'session_id'),
        ({'session_id': 3}, 'session_id'),
        ({'articulations': {}}, 'articulations'),
        ({'articulations': [3]}, 'articulations'),
        ({'articulations': [{}]}, 'prefix'),
        ({'mjb': 'text'}, 'mjb'),
        ({'entities': {'pallet': 7}}, 'pallet'),
        ({'timestep': 'fast'}, 'timestep'),
    ],
)
def test_nonsense_is_named(reply, change, named):
    with pytest.raises(ProtocolError, match=named):
        parse_handshake({**reply, **change})


LEAVES = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=3)
    | st.binary(max_size=3)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def paths(value, path=()):
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else (enumerate(value) if isinstance(value, list) else ())
    )
    for key, item in items:
        yield from paths(item, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    if isinstance(value, dict):
        return {k: replaced(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return [replaced(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]


@settings(max_examples=examples(400))
@given(st.data(), VALUES)
def test_any_field_may_be_anything(reply, data, value):
    whole = {**reply, 'articulations': [full_articulation()], 'timestep': 0.002}
    path = data.draw(st.sampled_from([path for path in paths(whole) if path]))
    with contextlib.suppress(ProtocolError):
        assert isinstance(parse_handshake(replaced(whole, path, value)), Handshake)


def test_a_model_of_another_mujoco_is_refused():
    pytest.importorskip('mujoco')
    with pytest.raises(ModelUnavailable, match=r'server runs MuJoCo 1\.2\.3'):
        load_model(b'mjb', '1.2.3')


def test_without_mujoco_the_reason_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ModelUnavailable, match='not installed'):
        load_model(b'mjb', '')


def test_the_model_comes_out_as_compiled(tmp_path, reply):
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="ball"><freejoint/><geom size="1"/></body></worldbody>'
        '</mujoco>'
    )
    mujoco.mj_saveModel(model, str(tmp_path / 'm.mjb'), None)
    handshake = parse_handshake(
        {**reply, 'mjb': (tmp_path / 'm.mjb').read_bytes(), 'mujoco_version': mujoco.__version__}
    )
    assert handshake.model.nq == 7 and handshake.model.body('ball').id == 1
    assert handshake.model is handshake.model
    with pytest.raises(ModelUnavailable, match='cannot load'):
        load_model(b'junk' * 9, mujoco.__version__)
