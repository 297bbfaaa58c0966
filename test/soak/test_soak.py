# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the fault matrix (`make soak` is the long one), and that it notices faults."""

import os
from pathlib import Path
import socket
import sys
import threading

from lifelines import run_process
import pytest

HERE = Path(__file__).resolve().parent
LIMIT = 280  # s, for a machine that others load as well


@pytest.fixture(scope='module')
def soak():
    """Return the modules beside this file."""
    sys.path.insert(0, str(HERE))
    import fault_proxy
    import run_soak
    import watchers

    yield fault_proxy, run_soak, watchers
    sys.path.remove(str(HERE))


@pytest.mark.slow
def test_one_fault_of_each_kind_breaks_no_invariant():
    path = os.pathsep.join((str(HERE.parent / 'harness'), os.environ.get('PYTHONPATH', '')))
    words = ['--short', '--window', '0.5', '--connections', '300']
    done = run_process(
        [sys.executable, HERE / 'run_soak.py', *words],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, 'PYTHONPATH': path},
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert 'all invariants hold' in done.stdout


@pytest.fixture
def echo():
    """Return the port of a server that sends back what it gets."""
    listener = socket.create_server(('127.0.0.1', 0))

    def serve():
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(link,), daemon=True).start()

    def answer(link):
        with link:
            while data := link.recv(4096):
                link.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def sent_through(proxy, pieces, timeout=0.5):
    """Send pieces one after the other; return all that comes back, and whether it was cut."""
    received, cut = b'', False
    with socket.create_connection(('127.0.0.1', proxy.port)) as link:
        link.settimeout(timeout)
        for piece in pieces:
            try:
                link.sendall(piece)
                got = link.recv(4096)
            except TimeoutError:
                continue
            except ConnectionError:
                got = b''
            if not got:
                return received, True
            received += got
    return received, cut


@pytest.mark.parametrize(
    ('fault', 'back', 'cut'),
    [
        ('', b'abcdef', False),
        ('delay', b'abcdef', False),
        ('drop', b'', False),
        ('cut', b'', True),
    ],
)
def test_a_proxy_does_as_it_is_told(soak, echo, fault, back, cut):
    proxy = soak[0].FaultProxy(echo, seed=1, rate=1.0)
    proxy.fault = fault
    patience = 0.5 if fault == 'drop' else 20.0  # for what never comes
    assert sent_through(proxy, [b'ab', b'cd', b'ef'], patience) == (back, cut)
    assert sum(proxy.done.values()) == proxy.done.get(fault, 0)
    proxy.close()


def test_a_proxy_duplicates_and_reorders_by_its_seed(soak, echo):
    def through(fault, rate, seed):
        proxy = soak[0].FaultProxy(echo, seed, rate)
        proxy.fault = fault
        received, _ = sent_through(proxy, [b'ab', b'cd', b'ef', b'gh'], 0.2)
        proxy.close()
        return received

    assert b'abab' in through('duplicate', 1.0, 1)
    assert len(through('truncate', 1.0, 1)) < 8
    mixed = [through('reorder', 0.5, seed) for seed in (3, 3)]
    assert mixed[0] == mixed[1]


class NoPrograms:
    """Programs that logged something."""

    def __init__(self, logged=''):
        self._logged = logged

    def log(self, name):
        return self._logged


def judged(soak, rows, codes=None, logged='', saved=None):
    """Return what the invariants say of a log."""
    made = object.__new__(soak[1].Soak)
    made.log, made.results = soak[2].Log(), []
    made.programs, made.saved, made.bags = NoPrograms(logged), saved or {}, {}
    for row in rows:
        made.log.add(**row)
    return soak[1].broken_invariants(made, codes or {'server': 0})


def at(time, who='state direct', epoch=1):
    return {'who': who, 'time': time, 'epoch': epoch}


def test_every_broken_invariant_is_noticed(soak, tmp_path):
    assert judged(soak, [at(1.0), at(1.0), at(2.0), at(0.5, epoch=2), at(0.1, 'rpc direct')]) == []
    assert 'time went back' in judged(soak, [at(1.0), at(0.9)])[0]
    assert 'one reply a request' in judged(soak, [{'who': 'x', 'wrong': 'a answered by b'}])[0]
    assert 'ended with -9' in judged(soak, [], {'server': -9})[0]
    assert 'logged' in judged(soak, [], logged='Traceback (most recent call last)')[0]
    lost = {tmp_path / 'gone.json': 3}
    assert 'was acknowledged' in judged(soak, [], saved=lost)[0]


def test_what_a_broken_stream_shows_counts_only_while_it_is_broken(soak):
    broken = {'who': 'faults', 'begins': 'drop', 'protocol': 'state'}
    back = [at(2.0, 'state proxied'), at(1.0, 'state proxied')]
    assert judged(soak, [broken, *back]) == []
    assert judged(soak, [broken, at(2.0), at(1.0)]) != []
    assert judged(soak, [{**broken, 'begins': 'delay'}, *back]) != []


def test_what_grows_is_named_once_it_has_lived_long_enough(soak, capsys):
    from programs_under_fault import Load
    from verdict import lives_table
    from verdict import longest_lives
    from verdict import MachineLoad

    def life(minutes, an_hour):
        return [(60.0 * m, Load(100.0 + an_hour * m / 60, 10 + m, 5)) for m in range(minutes)]

    loads = {
        ('server', 1): life(40, 120.0),
        ('chiral', 2): life(40, 10.0),
        ('chiral', 3): life(5, 900.0),
        ('webxr', 4): life(5, 900.0),
    }
    lives = {each.name: each for each in longest_lives(loads)}
    assert [name for name, each in lives.items() if each.leaks] == ['server']
    assert not lives['webxr'].judged and lives['chiral'].hours > 0.3
    lives_table(list(lives.values()))
    told = capsys.readouterr().out
    assert '| server | 140 -> 178 | +120 | 30 -> 49 | 5 -> 5 |' in told
    assert '| webxr | 103 -> 160 | not judged |'.partition('103')[0] in told
    assert 'load average at the end' in MachineLoad().text()
