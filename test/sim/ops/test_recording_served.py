# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay of a running server, through the client."""

from pathlib import Path
import threading
import time

from bundled_server import ports_of
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.ops import recording as recording_ops


@pytest.fixture
def clients(server, keep, tmp_path):
    """Return a factory of clients of one server with a data folder."""
    running = server(data_dir=tmp_path)

    def connect(**options):
        client = keep(Client(**ports_of(running), **options))
        client.connect()
        return client

    connect.server = running
    return connect


def test_a_recording_is_saved_under_its_name_and_nothing_is_overwritten(clients, tmp_path):
    client, saved = clients(), tmp_path / 'Replays'

    def record(name, steps):
        assert client.recording_start(name) == 'live'
        client.step(steps)
        client.recording_stop()

    record('lap1', 3)
    assert client.recording_save() == str(saved / 'lap1.json')
    first = (saved / 'lap1.json').read_bytes()
    assert client.recording_save() == str(saved / 'lap1_2.json')
    record('lap1', 5)
    assert client.recording_save() == str(saved / 'lap1_3.json')
    with pytest.raises(RemoteError, match=r'lap1\.json.*overwrite') as caught:
        client.recording_save('lap1.json')
    assert caught.value.code == 'path_not_writable'
    assert (saved / 'lap1.json').read_bytes() == first
    client.recording_save('lap1.json', overwrite=True)
    assert client.replay_load('lap1.json').total_frames == 5
    record(None, 1)
    assert client.recording_save() == str(saved / 'recording.json')
    names = {'../../x': '_.._x', 'a/b c': 'a_b_c', '..': 'recording_2'}
    for name, stem in names.items():
        record(name, 1)
        assert client.recording_save() == str(saved / f'{stem}.json')
    assert not list(saved.glob('.*'))


def test_saved_recordings_are_listed_and_read_back_byte_for_byte(clients, tmp_path, monkeypatch):
    client = clients()
    assert client.recording_list() == ()
    for name, steps in (('short', 11), ('long', 501)):
        client.recording_start(name)
        client.step(steps)
        client.recording_stop()
        client.recording_save()
    folder, step = tmp_path / 'Replays', client.handshake.timestep
    (folder / 'broken.json').write_text('{"Frames": []}')
    (folder / 'other.txt').write_text('no recording')
    (folder / 'away.json').symlink_to('/etc/hostname')
    listed = {each.path: each for each in client.recording_list()}
    assert listed.keys() == {'short.json', 'long.json', 'broken.json'}
    assert listed['short.json'].seconds == pytest.approx(10 * step)
    assert listed['long.json'].seconds == pytest.approx(500 * step)
    assert listed['broken.json'].seconds is None
    monkeypatch.setattr(recording_ops, 'PIECE_BYTES', 10_000)
    for path, each in listed.items():
        text = ''
        while piece := client.recording_read(path, len(text))[0]:
            text += piece
        assert text.encode() == (folder / path).read_bytes() and len(text) == each.bytes
    for path in ('nowhere.json', '../away.json', 'away.json', '/etc/hostname'):
        with pytest.raises(RemoteError, match='path_not_readable'):
            client.recording_read(path)


def test_two_saves_at_once_have_two_files(clients, tmp_path):
    savers = [clients(shared=True) for _ in range(4)]
    savers[0].recording_start('lap')
    savers[0].set_mode('direct')
    savers[0].step(2000)
    savers[0].recording_stop()
    paths = []
    threads = [
        threading.Thread(target=lambda saver=saver: paths.append(saver.recording_save()))
        for saver in savers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(set(paths)) == len({path.stat().st_ino for path in map(Path, paths)}) == 4


def test_a_paused_replay_waits_and_hears_when_it_ends(clients):
    client, other = clients(timeout=20.0), clients(shared=True)
    client.recording_start()
    client.step(10)
    client.recording_stop()
    client.replay_start()
    for act in (lambda: other.set_paused(False), lambda: other.reset()):
        other.set_paused(True)
        outcome = []

        def step(outcome=outcome):
            try:
                outcome.append(client.step(4).replay['frame'])
            except RemoteError as error:
                outcome.append(error.code)

        thread = threading.Thread(target=step)
        thread.start()
        time.sleep(0.15)
        assert thread.is_alive()
        act()
        other.set_paused(False)
        thread.join(10)
        assert outcome[0] in (3, 'step_timeout')
    assert outcome == ['step_timeout']


def looks(client, thread):
    """Return the statuses that a client gets while a thread is at work."""
    found = []
    while thread.is_alive():
        found.append(client.status())
        time.sleep(0.02)
    thread.join()
    return found


def time_went_on(looks):
    """Return whether nearly every look saw another step than the one before."""
    steps = [status.step for status in looks]
    return len(steps) > 5 and len(set(steps)) > 0.7 * len(steps)


def test_a_long_save_disturbs_neither_physics_nor_other_clients(clients, monkeypatch):
    server, saver, other = clients.server, clients(shared=True), clients(shared=True)
    other.set_mode('live')
    saver.recording_start()
    recorder, engine = server.context.recorder, server.context.engine
    with engine.lock:
        for _ in range(30_000):
            recorder._record()
    monkeypatch.setattr(recording_ops, '_LOG_FRAMES', 3_000)
    thread = threading.Thread(target=lambda: saver.recording_save('long.json'))
    thread.start()
    saving = looks(other, thread)
    saved = [status.raw['recording']['saved'] for status in saving]
    fractions = [value for value in saved if value is not None]
    assert fractions == sorted(fractions) and len(set(fractions)) > 5
    assert time_went_on(saving)
    assert other.status().raw['recording']['saved'] is None
    loader = threading.Thread(target=lambda: saver.replay_load('long.json'))
    loader.start()
    assert time_went_on(looks(other, loader))
    assert other.replay_list_sessions() == ('live', 'long')


def test_a_plain_session_replaces_a_file_that_it_names_and_a_shared_one_keeps_it(rig, tmp_path):
    made = rig(data_dir=tmp_path)
    plain, shared = made.caller(), made.caller(shared=True)
    plain.ask('set_mode', mode='direct')
    plain.ask('recording_start')
    plain.ask('step', n_steps=2)
    first = Path(plain.ask('recording_save', path='lap.json')['absolute_path']).read_text()
    plain.ask('step', n_steps=2)
    assert shared.code('recording_save', path='lap.json') == 'path_not_writable'
    assert plain.code('recording_save', path='lap.json', overwrite=False) == 'path_not_writable'
    again = Path(plain.ask('recording_save', path='lap.json')['absolute_path']).read_text()
    assert len(again) > len(first) > 0
    plain.ask('recording_stop')
