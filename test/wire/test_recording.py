# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The recording file: what is written reads back bit for bit, and anything else is refused."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.wire.recording import decode
from urlab_ros_bridge.wire.recording import encode
from urlab_ros_bridge.wire.recording import JOINT_WIDTHS
from urlab_ros_bridge.wire.recording import MalformedRecording
from urlab_ros_bridge.wire.recording import RecordedJoint
from urlab_ros_bridge.wire.recording import RecordedTake
from urlab_ros_bridge.wire.recording import RecordingLayout
from urlab_ros_bridge.wire.stamp import MAX_TIME

STOCK = {
    'Frames': [
        {
            'timestamp': 0.5 * i,
            'jointStates': {
                'g1_root': {'qPos': [0, 0, i, 1, 0, 0, 0], 'qVel': [0, 0, 1, 0, 0, 0]},
                'g1_knee': {'qPos': [0.25 * i], 'qVel': [0.5]},
            },
            'cameraPosition': {'x': 0, 'y': 0, 'z': 0},
            'cameraRotation': {'pitch': 0, 'yaw': 0, 'roll': 0},
            'bHasCameraData': False,
        }
        for i in range(3)
    ]
}


names = st.text(st.characters(exclude_categories=['Cs']), max_size=12)


floats = st.floats(allow_nan=False, allow_infinity=False)


times = st.floats(0.0, MAX_TIME)  # a reset may set them back


@st.composite
def takes(draw):
    joints = tuple(
        RecordedJoint(name, *draw(st.sampled_from(JOINT_WIDTHS)))
        for name in draw(st.lists(names, unique=True, max_size=4))
    )
    extras = [tuple(draw(st.lists(names, max_size=3))) for _ in range(3)]
    layout = RecordingLayout(joints, *extras)
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3).filter(any))
    rest = st.lists(floats, min_size=layout.width - 1, max_size=layout.width - 1)
    frame = st.builds(lambda time, numbers: [time, *numbers], times, rest)
    blocks = tuple(
        np.array(draw(st.lists(frame, min_size=size, max_size=size))).reshape(size, layout.width)
        for size in sizes
    )
    return RecordedTake(layout, blocks, draw(st.none() | st.just(0.002)))


def text_of(take):
    return ''.join(piece for _, piece in encode(take))


def rows_of(take):
    return np.array([take.row(i) for i in range(len(take))])


def small_take(frames=4):
    joints = RecordedJoint('a%s"ü', 1, 1), RecordedJoint('root', 7, 6)
    layout = RecordingLayout(joints, ('m', 'n'), ('m',), ('target',))
    rows = np.random.default_rng(0).standard_normal((frames, layout.width))
    rows[:, 0] = np.abs(rows[:, 0])
    return RecordedTake(layout, (rows[:1], rows[1:]), 0.002)


@given(takes(), st.integers(1, 50))
def test_a_recording_reads_back_bit_for_bit(take, size):
    text = text_of(take)
    back = decode(text[i : i + size] for i in range(0, len(text), size))
    assert back.layout == take.layout and back.timestep == take.timestep
    assert rows_of(back).tobytes() == rows_of(take).tobytes()


def test_a_file_has_the_keys_of_the_stock_plugin():
    take = small_take()
    root = json.loads(text_of(take))
    assert set(root) == {'Frames', 'Urlab'} and len(root['Frames']) == 4
    frame, row = root['Frames'][2], take.row(2)
    assert set(STOCK['Frames'][0]) | {'ctrl', 'act', 'mocap'} == set(frame)
    assert frame['timestamp'] == row[0] and frame['bHasCameraData'] is False
    assert frame['jointStates']['root']['qPos'] == row[2:9].tolist()
    assert frame['jointStates']['a%s"ü'] == {'qPos': [row[1]], 'qVel': [row[9]]}
    assert frame['ctrl'] == row[take.layout.columns['ctrl']].tolist()
    assert frame['act'] == row[take.layout.columns['act']].tolist()
    assert frame['mocap'] == [row[-7:].tolist()]
    assert root['Urlab']['actuators'] == ['m', 'n'] and root['Urlab']['timestep'] == 0.002


@pytest.mark.parametrize(('indent', 'key'), [(None, 'qPos'), (4, 'QPOS')])
def test_a_file_of_the_stock_plugin_is_read(indent, key):
    text = json.dumps({'Version': 3, **STOCK}, indent=indent)
    take = decode([text.replace('qPos', key)])
    found = [(joint.name, joint.nq, joint.nv) for joint in take.layout.joints]
    assert found == [('g1_root', 7, 6), ('g1_knee', 1, 1)]
    assert take.timestep is None and take.layout.actuators == ()
    assert take.row(2)[take.layout.columns['qpos']].tolist() == [0, 0, 2, 1, 0, 0, 0, 0.5]


def changed(*path, value):
    root = json.loads(json.dumps(STOCK))
    place = root
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(root)


KNEE = ('Frames', 1, 'jointStates', 'g1_knee')
ROOT = STOCK['Frames'][1]['jointStates']['g1_root']


@pytest.mark.parametrize(
    ('text', 'hint'),
    [
        ('', 'end of the text'),
        ('[]', "'{'"),
        ('{}', 'Frames'),
        ('{"Frames":{}}', "'['"),
        ('{"Frames":[]}', 'empty'),
        ('{"Frames":[1]}', 'not an object'),
        ('{"Frames":[' + '[' * 100_000, 'nested'),
        ('{1:2}', 'not a key'),
        (json.dumps(STOCK) + 'x', 'after the end'),
        (json.dumps(STOCK)[:-1] + ',' + json.dumps(STOCK)[1:], 'twice'),
        (changed('Frames', 1, 'timestamp', value='0'), 'not a number'),
        (changed('Frames', 1, 'timestamp', value=10**400), 'from 0 to 1e+09'),
        (changed('Frames', 1, 'timestamp', value=1e300), '1e+300 is not a number of seconds'),
        (changed('Frames', 1, 'timestamp', value=-0.5), '-0.5 is not a number of seconds'),
        (changed(*KNEE, 'qPos', value=[10**400]), 'too large'),
        (changed('Frames', 1, 'timestamp', value=float('nan')), 'NaN'),
        (changed('Frames', 1, 'timestamp', value=None), "'timestamp'"),
        (changed(*KNEE, value=None), 'first frame'),
        (changed(*KNEE[:3], value=7), 'jointStates is not an object'),
        (changed(*KNEE[:3], value={'g1_root': ROOT, 'g1_hip': {}}), 'is missing'),
        (changed(*KNEE, 'qPos', value=['x']), 'not a number'),
        (changed(*KNEE, 'qPos', value=[0, 0]), 'needs 1'),
        (changed(*KNEE, 'qPos', value=3), 'not a list'),
        (changed('Frames', 0, *KNEE[2:], 'qPos', value=[0, 0]), 'a joint has'),
        (changed('Frames', 1, 'ctrl', value=[1]), 'first frame'),
        (changed('Frames', 0, 'mocap', value=[[1]]), '7 values'),
        (json.dumps({**STOCK, 'Urlab': {'actuators': ['a']}}), 'actuators'),
        ('{"Frames":["' + 'x' * 5_000_000, 'characters'),
    ],
    ids=lambda value: value[:24],
)
def test_malformed_recordings_are_refused_with_a_reason(text, hint):
    with pytest.raises(MalformedRecording, match=re.escape(hint)):
        decode(text[i : i + 65536] for i in range(0, len(text), 65536))


def test_a_frame_that_json_cannot_hold_is_left_out():
    take = small_take(5)
    take.blocks[1][1, 3] = np.nan
    take.blocks[1][2, 0] = -np.inf
    back = decode([text_of(take)])
    assert np.array_equal(rows_of(back), rows_of(take)[[0, 1, 4]])


def test_the_text_is_encoded_in_small_pieces_with_their_progress():
    layout = RecordingLayout(tuple(RecordedJoint(f'j{i}', 1, 1) for i in range(24)))
    take = RecordedTake(layout, (np.ones((3000, layout.width)),), 0.002)
    pieces = list(encode(take))
    assert max(len(text) for _, text in pieces) < 40_000
    done = [count for count, _ in pieces]
    assert done == sorted(done) and (done[0], done[-1]) == (0, 3000)


def test_rows_are_found_across_blocks_and_not_beyond():
    take = small_take(6)
    assert len(take) == 6 and take.nbytes == 6 * 8 * take.layout.width
    for frame in (-1, 6):
        with pytest.raises(IndexError):
            take.row(frame)
    assert len(RecordedTake(take.layout, ())) == 0
