# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Values that no op takes: long texts, and times that a reply cannot hold."""

import pytest


@pytest.mark.parametrize(
    ('op', 'fields'),
    [
        ('apply_wrench', lambda text: {'body': 'pallet', 'force': [1, 0, 0], 'name': text}),
        ('hello', lambda text: {'shared': True, 'camera_header': text}),
        ('step', lambda text: {'topics': ['rover/twist', text]}),
        ('recording_start', lambda text: {'name': text * 20}),
        ('set_twist', lambda text: {'articulation': text * 20}),
    ],
)
def test_texts_of_clients_are_limited_in_length(shared_rig, op, fields):
    assert shared_rig.reply(op, **fields('x' * 256)).get('code') != 'internal_error'
    assert shared_rig.code(op, **fields('x' * 257)) in ('bad_value', 'unknown_articulation')


@pytest.mark.parametrize('time', ['-1.5', '-1e-9', '1e300', '1.1e9', '1' + 400 * '0', 'NaN'])
def test_times_that_a_reply_cannot_hold_are_refused(rig, mjcf, tmp_path, time):
    """By a puppet, a recording or a keyframe: `status` and `get_entities` serve all clients."""
    keyframe = '-1' if len(time) > 400 or time == 'NaN' else time
    made = rig(
        model=str(
            mjcf(
                '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body>'
                f'</worldbody><keyframe><key name="k" time="{keyframe}"/></keyframe></mujoco>'
            )
        ),
        data_dir=tmp_path,
    )
    made.ask('set_mode', mode='puppet')
    frame = f'{{"timestamp":{time},"jointStates":{{"j":{{"qPos":[0],"qVel":[0]}}}}}}'
    (tmp_path / 'Replays').mkdir()
    (tmp_path / 'Replays' / 'odd.json').write_text(f'{{"Frames":[{frame}]}}')
    assert made.code('step', time=float(time)) == 'bad_value'
    assert made.code('replay_load', path='odd.json') == 'path_not_readable'
    assert made.code('reset', keyframe_name='k') == 'bad_value'
    for op in ('status', 'get_entities', 'forward', 'step'):
        assert made.ask(op)
