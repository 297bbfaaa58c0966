# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the attack on a step server, and that it notices what it looks for."""

from collections import Counter
from pathlib import Path
import sys

import pytest

from test.security.programs import ANY_PORTS
from test.security.programs import port_of
from test.security.programs import program
from urlab_ros_bridge.wire.encoding import codec

FRAMES = 600


@pytest.fixture(scope='module')
def attack_server():
    """Return the module beside this file."""
    path = sys.path[:]
    sys.path.insert(0, str(Path(__file__).parent))
    import attack_server

    yield attack_server
    sys.path[:] = path


def test_many_requests_at_once_hold_nobody_up(attack_server, tmp_path):
    words = ('server', '--world=rover', '--cameras=off', f'--data-dir={tmp_path}', *ANY_PORTS)
    with program(*words) as (process, line):
        good = attack_server.GoodClient(port_of(line))
        attack = attack_server.StepServerAttack(port_of(line), seed=4)
        good.start()
        try:
            attack.send(FRAMES // 2)
            attack.send(FRAMES // 2)
        finally:
            attack.close()
        assert good.end() == '' and good.waits
        assert process.poll() is None
    assert sum(attack.answers.values()) == FRAMES
    assert attack.answers['step_ok'] and len(attack.answers) > 20, attack.answers


@pytest.mark.parametrize(
    ('reply', 'problem'),
    [
        (b'\xff', 'a reply that is none'),
        ({'op': 'error', 'code': 'bad_value'}, 'an error reply that is none'),
        ({'op': 'error', 'code': 'oops', 'message': ''}, 'an error reply that is none'),
        ({'op': 'error', 'code': 'internal_error', 'message': ''}, 'internal_error'),
        ({'op': 'step'}, "a reply with op 'step'"),
        ({}, 'a reply with op None'),
    ],
)
def test_replies_that_are_none_are_noticed(attack_server, reply, problem):
    attack = object.__new__(attack_server.StepServerAttack)
    attack.answers = Counter()
    with pytest.raises(attack_server.Refused, match=problem):
        attack._judge(reply if isinstance(reply, bytes) else codec.pack(reply))
