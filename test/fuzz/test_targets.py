# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every decoder with its corpus and inputs made from it; `make fuzz` tries millions."""

from collections import Counter
import contextlib
import itertools
import json
import os
from pathlib import Path
import resource
import signal
import sys
import time

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from lifelines import run_process
import pytest

HERE = Path(__file__).resolve().parent
SHORT = 400  # inputs of a plain decoder
LONG = 20_000


@pytest.fixture(scope='module')
def fuzz():
    """Return the modules beside this file."""
    sys.path.insert(0, str(HERE))
    import fuzz_mutation
    import fuzz_targets
    import run_fuzz

    yield fuzz_mutation, fuzz_targets, run_fuzz
    sys.path.remove(str(HERE))


def names():
    return sorted(path.name for path in (HERE / 'corpus').iterdir())


def test_every_target_has_a_corpus(fuzz):
    assert names() == sorted(fuzz[1].TARGETS)
    assert all(fuzz[2].corpus_of(name) for name in names())


@pytest.mark.parametrize('name', names())
def test_the_corpus_has_what_is_taken(fuzz, name):
    target = fuzz[1].TARGETS[name]
    outcomes = Counter(map(target.outcome, fuzz[2].corpus_of(name)))
    assert outcomes['taken'], outcomes


def tried(fuzz, name, count, tmp_path):
    counts, _ = fuzz[2].fuzz(name, count, 2026, tmp_path)
    assert not [key for key in counts if key.endswith('!')], counts
    assert sum(counts.values()) == count
    return counts


@pytest.mark.parametrize('name', names())
def test_no_input_does_harm(fuzz, name, tmp_path):
    print(name, dict(tried(fuzz, name, max(SHORT // fuzz[1].TARGETS[name].cost, 1), tmp_path)))


@pytest.mark.long
@pytest.mark.parametrize('name', names())
def test_no_input_of_very_many_does_harm(fuzz, name, tmp_path, capsys):
    count = max(LONG // fuzz[1].TARGETS[name].cost, 1)
    counts = tried(fuzz, name, count, tmp_path)
    with capsys.disabled():
        print(f'{name}: {count:,} inputs, {dict(counts)}')


PLAIN = ('urlab_request', 'urlab_snapshot', 'chiral_action', 'simspark_effectors', 'webxr_message')


@pytest.mark.parametrize('name', PLAIN)
def test_no_bytes_that_hypothesis_thinks_of_do_harm(fuzz, name):
    target, seeds = fuzz[1].TARGETS[name], fuzz[2].corpus_of(name)
    words = st.sampled_from([*target.words, *(seed[:40] for seed in seeds)])

    @settings(max_examples=60)
    @given(st.lists(words | st.binary(max_size=20), max_size=12).map(b''.join))
    def holds(data):
        target.outcome(data)

    holds()


def test_the_same_seed_makes_the_same_inputs(fuzz):
    corpus, words = [b'hello', b'world'], [b'xy']

    def made(seed):
        return list(fuzz[0].Mutator(corpus, words, seed).inputs(200))

    assert made(3) == made(3) != made(4)
    assert len(set(made(3))) > 150


def test_values_are_changed_as_values(fuzz):
    from fuzz_values import NoValue
    from fuzz_values import read_values
    from fuzz_values import ValueMutator

    corpus = fuzz[2].corpus_of('sidecar_values')

    def made(seed):
        return list(ValueMutator(corpus, (), seed).inputs(300))

    assert made(3) == made(3) != made(4)
    values = [read_values(data) for data in made(3)]  # each is one
    assert len(set(made(3))) > 250
    # Also what YAML knows and JSON does not.
    assert any('datetime' in repr(value) or "b'" in repr(value) for value in values)
    for wrong in (b'', b'{', b'\xff', b'[' * 100_000):
        with pytest.raises(NoValue):
            read_values(wrong)


def test_texts_are_changed_as_texts(fuzz):
    from fuzz_text import TextMutator
    import yaml

    corpus, target = fuzz[2].corpus_of('sidecar'), fuzz[1].TARGETS['sidecar']

    def made(seed):
        return list(TextMutator(corpus, target.words, seed).inputs(400))

    assert made(3) == made(3) != made(4)
    assert len(set(made(3))) > 300
    # They are excerpts, and many are YAML still, as deep as what they were taken from.
    assert sum(map(len, made(3))) / 400 < 0.5 * max(map(len, corpus))
    values = []
    for data in made(3):
        with contextlib.suppress(yaml.YAMLError, ValueError):
            values.append(yaml.safe_load(data))
    assert len(values) > 150
    assert any('articulations' in value for value in values if isinstance(value, dict))
    outcomes = Counter(map(target.outcome, made(3)))
    assert outcomes['taken'] > 5 and outcomes['SidecarError'] > 100
    for odd in ([], [b''], [b'\xff\xfe'], [b'a'], [b'# only a comment']):
        assert all(isinstance(data, bytes) for data in TextMutator(odd, (), 1).inputs(50))


def test_one_fork_for_many_models_judges_as_a_fork_for_each(fuzz):
    from fuzz_trial import LongTrial

    from urlab_ros_bridge.sim.errors import OpError
    from urlab_ros_bridge.sim.model.client_models.document import Bundle
    from urlab_ros_bridge.sim.model.client_models.trial import Trial

    good = '<mujoco><worldbody><body><geom size="{}"/></body></worldbody></mujoco>'
    texts = [good.format(1), good.format(-1), '<mujoco>', good.format('1').replace('body>', 'b>')]

    def verdict(trial, text):
        try:
            return trial.sizes(Bundle(xml=text)).of('nbody')
        except OpError as error:
            return str(error)

    long, product = LongTrial(cpu=5, wall=60.0), Trial(cpu=5, wall=60.0)
    try:
        assert [verdict(long, text) for text in texts] == [verdict(product, t) for t in texts]
        fork = long._fork
        os.kill(fork._process, signal.SIGSEGV)
        assert 'signal 11' in verdict(long, good.format(2))
        assert verdict(long, good.format(3)) == 2 and long._fork is not fork
    finally:
        long.close()
        product.close()


def test_a_fork_for_many_models_keeps_nothing_of_them(fuzz):
    from fuzz_trial import LongTrial

    from urlab_ros_bridge.sim.model.client_models.document import Bundle
    from urlab_ros_bridge.sim.model.client_models.reader import _MESH

    corners = '\n'.join(f'v {x} {y} {z}' for x, y, z in ('000', '100', '010', '001'))
    faces = '\n'.join(f'f {a} {b} {c}' for a, b, c in itertools.combinations((1, 2, 3, 4), 3))

    def judge(number):
        content = f'{corners}\n{faces}\n# {number}\n'.encode()
        return trial.sizes(
            Bundle(xml=_MESH.format(f'"{number}.obj"'), compiled={f'{number}.obj': content})
        )

    def address_space():
        words = Path(f'/proc/{trial._fork._process}/statm').read_text().split()
        return int(words[0]) * resource.getpagesize()

    trial = LongTrial(cpu=5, wall=60.0)
    try:
        for number in range(20):
            judge(number)
        before, fork = address_space(), trial._fork
        for number in range(20, 90):
            assert judge(number).of('nbody') == 2
        assert trial._fork is fork and address_space() - before < 100 << 20
    finally:
        trial.close()


def test_a_tally_is_continued_until_the_goal(tmp_path):
    words = ['--only', 'urlab_row', 'urlab_topic', '--keep', str(tmp_path), '--seconds', '20']
    words += ['--tally', str(tmp_path / 'tally.json')]
    (tmp_path / 'tally.json').write_text('{"urlab_row": 150}')
    done = run_process(
        [sys.executable, HERE / 'run_fuzz.py', '--inputs', '200', *words],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert '2 decoders with 200 inputs or more; faults: none' in done.stdout
    assert json.loads((tmp_path / 'tally.json').read_text()) == {
        'urlab_row': 200,
        'urlab_topic': 200,
    }


def test_faults_and_hangs_are_noticed_and_kept(fuzz, tmp_path, monkeypatch, capsys):
    def bad(data):
        if len(data) > 3:
            raise KeyError(data)
        while data[:1] == b'h':
            time.sleep(0.01)

    monkeypatch.setitem(fuzz[1].TARGETS, 'keys', fuzz[1].Target(bad, ()))
    monkeypatch.setattr(fuzz[2], 'corpus_of', lambda name: [b'hi!', b'hello'])
    monkeypatch.setattr(fuzz[2], 'SECONDS', 1)
    counts, _ = fuzz[2].fuzz('keys', 20, 1, tmp_path)
    assert counts['KeyError!'] and counts['TooLong!']
    kept = [path.read_bytes() for path in (tmp_path / 'keys').iterdir()]
    assert any(len(data) > 3 for data in kept) and any(data[:1] == b'h' for data in kept)


def test_who_waits_for_a_processor_does_not_take_too_long(fuzz, monkeypatch):
    run_fuzz, alarms = fuzz[2], []
    monkeypatch.setattr(run_fuzz.signal, 'alarm', alarms.append)
    now, ready = [100.0], [5.0]
    monkeypatch.setattr(run_fuzz, 'waited', lambda: ready[0])
    monkeypatch.setattr(run_fuzz.time, 'monotonic', lambda: now[0])
    watch = run_fuzz.Watch()
    watch.begin()
    now[0], ready[0] = 160.0, 50.0  # of 60 s it was ready to run and did not for 45
    watch.ring()
    assert alarms == [run_fuzz.SECONDS, 45]
    now[0] = 205.0
    with pytest.raises(run_fuzz.TooLong):
        watch.ring()


def test_the_program_prints_its_counts(tmp_path):
    words = ['--inputs', '300', '--only', 'urlab_row', 'urlab_topic', '--keep', str(tmp_path)]
    done = run_process(
        [sys.executable, HERE / 'run_fuzz.py', *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert '600 inputs of 2 decoders; faults: none' in done.stdout
