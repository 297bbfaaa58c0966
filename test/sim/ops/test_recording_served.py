# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay of a running server, through the client."""

from bundled_server import client_of
import pytest

from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.ops import recording as recording_ops


@pytest.fixture
def clients(server, keep, tmp_path):
    """Return a factory of clients of one server with a data folder."""
    running = server(data_dir=tmp_path)

    def connect(**options):
        return keep(client_of(running, **options))

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
    record('../../x y', 1)
    assert client.recording_save() == str(saved / '_.._x_y.json')
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
    for offset in (-1, (1 << 63) - 1, 1 << 63):
        with pytest.raises(RemoteError, match='bad_value'):
            client.recording_read('short.json', offset)
