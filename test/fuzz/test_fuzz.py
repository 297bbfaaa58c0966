# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of bench/fuzz.py, and that it notices what it looks for."""

import contextlib
import importlib.util
from pathlib import Path
import sys

from example_counts import examples
import pytest

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import WireError

BENCH = Path(__file__).resolve().parents[2] / 'bench'


@pytest.fixture(scope='module')
def fuzz():
    """Return the module bench/fuzz.py."""
    path, name = sys.path[:], 'bench_fuzz'
    spec = importlib.util.spec_from_file_location(name, BENCH / 'fuzz.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path
    del sys.modules[name]


@pytest.mark.parametrize('world', ['rover', 'quadruped', 'editor'])
def test_the_server_takes_no_harm(fuzz, world):
    found = fuzz.attack(world, 3000, 2026, fuzz.Progress(3000))
    assert found.problems == [] and found.frames == 3000
    print(world, dict(found.ways), dict(found.answers))
    assert found.ways['hostile'] > 10
    assert found.ways['shm, sound'] > 500 and found.ways['shm, size'] and found.ways['control']
    # It got beyond the first checks: ops were done, and refused for many reasons.
    done = {answer for answer in found.answers if answer.endswith('_ok')}
    assert len(done) >= 12 and len(found.answers) - len(done) >= 12


def test_the_same_seed_sends_the_same_frames(fuzz):
    sources = fuzz.Fuzz(3), fuzz.Fuzz(3), fuzz.Fuzz(4)
    frames = [[source.frame('id') for _ in range(200)] for source in sources]
    assert frames[0] == frames[1] != frames[2]


def test_no_frame_breaks_the_decoder(fuzz):
    source, decoded, frames = fuzz.Fuzz(5), 0, examples(20_000)
    for _ in range(frames):
        with contextlib.suppress(WireError):
            decoded += isinstance(codec.unpack(source.frame('id')), dict)
    assert 0.4 * frames < decoded < 0.9 * frames


class Broken:
    """A server that answers nonsense; enough of it for `Attack._receive`."""

    def __init__(self, reply):
        self.reply = reply

    def recv_multipart(self):
        return [b'', self.reply]


@pytest.mark.parametrize(
    ('reply', 'problem'),
    [
        (b'\xff', 'a reply that is none'),
        (codec.pack({'op': 'error', 'code': 'bad_value'}), 'an error reply that is none'),
        (
            codec.pack({'op': 'error', 'code': 'oops', 'message': ''}),
            'an error reply that is none',
        ),
        (codec.pack({'op': 'error', 'code': 'internal_error', 'message': ''}), 'internal_error'),
        (codec.pack({'op': 'step'}), "a reply with op 'step'"),
        (codec.pack({}), 'a reply with op None'),
    ],
)
def test_bad_replies_are_noticed(fuzz, reply, problem):
    attack = object.__new__(fuzz.Attack)
    attack.found, attack._rpc, attack._waiting = fuzz.Findings(), Broken(reply), 1
    attack._receive()
    assert len(attack.found.problems) == 1 and problem in attack.found.problems[0]


def test_a_server_that_dies_is_noticed(fuzz, monkeypatch):
    def die(attack):
        attack.server.process.kill()
        attack.server.process.wait()
        attack.found.frames = 100

    monkeypatch.setattr(fuzz, 'HANG_SECONDS', 1.0)
    monkeypatch.setattr(fuzz.Attack, '_send_one', die)
    found = fuzz.attack('rover', 100, 1, fuzz.Progress(100))
    assert any('the server ended' in problem for problem in found.problems)
    assert any('exit code' in problem for problem in found.problems)
