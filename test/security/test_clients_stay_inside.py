# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
No client reads or writes outside the data folder, or has code run.

Every field of every op gets paths, links and programs that lead out, one after another; two
witnesses (see `watching`) tell what the server has really done.
"""

from contextlib import closing
from contextlib import contextmanager
from contextlib import ExitStack
from pathlib import Path
import random
import re
import socket
import sys

from odd_requests import LIKELY
import pytest
from raw_peer import dial
from raw_peer import frame
from raw_peer import opened
from raw_peer import rest
from rig import Caller
from urlab_programs import ANY_PORTS
from urlab_programs import listening
from urlab_programs import port_of
from urlab_programs import program
import zmq

from test.gateways.chiral.stock_client import packed
from test.gateways.chiral.stock_client import StockClient
from test.gateways.simspark.peers import RawPeer
from test.gateways.virtual_field.field_client import FieldClient
from test.security.watching import audited
from test.security.watching import beyond_loopback
from test.security.watching import Canary
from test.security.watching import events
from urlab_ros_bridge.wire.ops import OPS

PATIENCE = 60_000  # ms
SECRET = 'kestrel-7741'
# Under these a program writes down what it has executed, which is no deed of a client.
COVERAGE = ('COVERAGE_PROCESS_START', 'COVERAGE_PROCESS_CONFIG')
# Fields that hold a document or a name of a file, in any op.
DOCUMENTS = ('xml', 'scene')
CHANGES = (
    'write', 'os.remove', 'os.rename', 'os.mkdir', 'os.rmdir', 'os.truncate', 'os.link',
    'os.symlink', 'os.chmod', 'os.chown',
)  # fmt: skip


def unquoted(text):
    """Return the text of which something is the repr, be it of bytes; names may end with a b."""
    return text.removeprefix('b').strip('\'"')


class House:
    """
    A folder with a data folder in it, and beside that what nobody may touch.

    :ivar attacks: texts that lead to it, by what they try.
    """

    def __init__(self, folder):
        self.data = folder / 'data'
        self.outside = folder / 'outside'
        self.audit = folder / 'audit'
        self.files = [
            self.outside / f'secret{end}' for end in ('.xml', '.json', '.obj', '.png', '')
        ]
        for place in (self.data / 'Replays', self.data / 'Levels', self.outside, self.audit):
            place.mkdir(parents=True)
        for file in self.files:
            file.write_text(f'<mujoco model="{SECRET}"/>')
        # A link that somebody else has put there leads nowhere for a client.
        for place in (self.data, self.data / 'Replays', self.data / 'Levels'):
            (place / 'link').symlink_to(self.outside)
            (place / 'linked.json').symlink_to(self.outside / 'secret.json')
        # A module that tells of its import.
        (self.audit / 'urlab_canary.py').write_text('def judge(*_):\n    return 1.0\n')
        self.environ, self.log = audited(self.audit)
        self.canary = Canary(self.outside, *self.files)

    def paths(self):
        secret = str(self.files[0])
        up = '../' * 12
        yield from (
            secret, str(self.outside), f'{up}{secret}', f'{secret}\0.json',
            f'{self.data}/../outside/secret.json', f'{self.data}/link/secret.xml',
            '../outside/new.json', 'link/secret.xml', 'linked.json', 'link/new.json',
            f'file://{secret}', f'package://{up}{secret}', str(self.outside / 'new'),
            '/proc/self/environ', '~/secret', '%2e%2e/%2e%2e/outside', 'urlab_canary:judge',
            f'$(touch {self.outside}/new)', f'__import__("os").mkdir("{self.outside}/new")',
        )  # fmt: skip

    def documents(self):
        x, obj, png = self.files[0], self.files[2], self.files[3]
        inner = (
            f'<Include file="{x}"/>',
            f'<asset><model name="m" file="{x}"/></asset>',
            f'<asset><mesh name="m" file="{obj}"/></asset>',
            f'<asset><texture name="t" type="2d" file="{png}"/></asset>',
            f'<compiler meshdir="{self.outside}"/><asset><mesh name="m" file="secret.obj"/>'
            '</asset>',
            f'<extension><plugin plugin="mujoco.elasticity.cable"><instance name="i">'
            f'<config key="k" value="{x}"/></instance></plugin></extension>',
        )  # fmt: skip
        for each in inner:
            yield f'<mujoco>{each}</mujoco>'
        yield f'<!DOCTYPE m [<!ENTITY e SYSTEM "file://{x}">]><mujoco model="&e;"/>'
        yield (
            f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{obj}"/>'
            '</geometry></visual></link></robot>'
        )

    def judge(self):
        """See that nothing was touched, and that nothing else was done either."""
        assert not self.canary.seen()
        assert sorted(self.outside.iterdir()) == sorted(self.files)
        self.canary.seen()  # this look at the folder
        for event, args in events(self.log):
            if event in CHANGES:
                # Any name is good in the data folder, that of a file elsewhere too.
                assert all(map(self._is_own, args)), (event, args)
                continue
            assert not unquoted(args[0]).startswith(str(self.outside)), (event, args)
            assert event == 'read' or 'urlab_canary' not in ' '.join(args), (event, args)
            if event in ('os.system', 'os.exec', 'os.posix_spawn', 'pty.spawn', 'os.spawn'):
                raise AssertionError((event, args))
            if event == 'subprocess.Popen':
                assert sys.executable in args[0], (event, args)

    def _is_own(self, text):
        path = unquoted(text)
        own = (str(self.data), '/dev/', '/tmp/urlab', '/run/', str(self.audit))
        bare = not path.startswith('/')  # a descriptor, or beside one
        if re.fullmatch(r'/tmp/[a-z0-9_]{8}', path):
            return True  # the module tempfile looks for a folder that it can use
        return bare or path.startswith(own) or '__pycache__' in path or 'urlab' in Path(path).name


@contextmanager
def house_in(folder):
    """Build a house; programs that are started meanwhile are watched."""
    house = House(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in house.environ.items():
            patch.setenv(name, value)
        for name in COVERAGE:
            patch.delenv(name, raising=False)
        yield house
    house.canary.close()


@pytest.fixture
def house(tmp_path):
    with house_in(tmp_path) as house:
        yield house


@pytest.fixture(scope='module')
def gateways(tmp_path_factory):
    """Return a house, and all gateways in front of a server in it: processes and first lines."""
    with house_in(tmp_path_factory.mktemp('house')) as house:
        profile = house.audit / 'profile.yaml'
        profile.write_text('cameras: []\n')
        options = {
            'chiral': ('--viewers', '--legacy', f'--profile={profile}'),
            'webxr': (),
            'simspark': ('--monitor-port=0',),
        }
        with ExitStack() as programs:
            words = ('--world=soccer', '--paused', f'--data-dir={house.data}', '--cameras=off')
            _, line = programs.enter_context(program('server', *words, *ANY_PORTS))
            words = (f'--rpc-port={port_of(line)}', '--port=0')
            yield (
                house,
                {
                    name: programs.enter_context(program(name, *words, *own))
                    for name, own in options.items()
                },
            )
        house.judge()


@pytest.fixture
def port(gateways):
    """Return a function: name -> port of a gateway, which runs on and has touched nothing."""
    house, running = gateways
    yield lambda name: int(re.search(r'://[^ /]*:(\d+)', running[name][1])[1])
    assert all(process.poll() is None for process, _ in running.values())
    house.judge()


class Attacker(Caller):
    """
    Sends requests.

    :ivar replies: all answers as bytes, one after the other.
    """

    def __init__(self, port):
        self.link = zmq.Context.instance().socket(zmq.REQ)
        self.link.linger, self.link.rcvtimeo = 0, PATIENCE
        self.link.connect(f'tcp://127.0.0.1:{port}')
        self.replies = bytearray()
        super().__init__(self._exchange)
        self.hello(shared=True)

    def _exchange(self, frame):
        self.link.send(frame)
        reply = self.link.recv()
        self.replies += reply
        return reply

    def close(self):
        self.link.close()


def requests(house, ops):
    """Yield requests in which one field leads out, and the others are likely."""
    chance = random.Random(1)
    paths, documents = list(house.paths()), list(house.documents())
    for op in ops:
        fields = (*op.required, *op.optional)
        for field in fields:
            attacks = paths + (documents if field in DOCUMENTS else [])
            for attack in attacks:
                message = {
                    name: chance.choice(LIKELY.get(name, ('x',)))
                    for name in fields
                    if name in op.required or (name != field and chance.random() < 0.2)
                }
                if field == 'file' or field in DOCUMENTS:
                    for other in ('xml', 'file'):
                        message.pop(other, None)
                shapes = (attack, [attack], {attack: attack}, {'x': {attack: [attack]}})
                plain = field in ('path', 'file', 'xml')
                message[field] = attack if plain else chance.choice(shapes)
                yield op.name, message


@pytest.mark.parametrize('editing', [False, True], ids=['server', 'editor'])
def test_no_field_of_any_op_reaches_outside_the_data_folder(house, editing, keep):
    words = ['--editor'] if editing else ['--world=rover']
    ops = [op for op in OPS.values() if (op.category == 'editor_only') is editing]
    if editing:
        ops.append(OPS['recording_save'])
    words += [f'--data-dir={house.data}', '--cameras=off', *ANY_PORTS]
    with program('server', *words) as (process, line):
        caller, answers = keep(Attacker(port_of(line))), set()
        for op, message in requests(house, ops):
            if op in ('spawn_entity', 'delete_entity', 'replay_start'):
                caller.reply('recording_stop')  # which would be a reason to refuse
            answer = caller.reply(op, **message)
            answers.add(answer.get('code') or answer['op'])
        for field in ('encoding', 'observations', 'client', 'camera_header', 'shm_channel'):
            for path in house.paths():
                caller.reply('hello', **{'shared': True, field: path})
        # So many sessions have ended the first one.
        caller.hello(shared=True)
        # It is in good health, and does what is allowed.
        inside(caller, house, editing)
        assert process.poll() is None
    assert len(answers) > 8
    assert SECRET.encode() not in caller.replies
    house.judge()


def inside(caller, house, editing):
    if editing:
        for op in ('create_level', 'save_level'):
            caller.ask(op, name='fine', force_overwrite=True)
    else:
        for op in ('recording_stop', 'replay_stop'):
            caller.reply(op)
        caller.ask('set_mode', mode='direct')
        caller.ask('recording_start', name='fine')
        caller.ask('step', n_steps=5)
        caller.ask('recording_stop')
        saved = caller.ask('recording_save', path='fine', overwrite=True)
        assert Path(saved['absolute_path']).is_relative_to(house.data)
    assert any(path.name.startswith('fine') for path in house.data.rglob('*'))


def test_gateways_listen_at_loopback_alone(gateways):
    for name, (process, _) in gateways[1].items():
        places = listening(process.pid)
        assert len(places) == 1 + (name == 'simspark')
        assert beyond_loopback(places) == []


def test_chiral_clients_stay_inside(gateways, port):
    for attack in gateways[0].paths():
        for message in (
            {'type': 'obs_request', 'hook': attack, 'task': attack},
            {'type': 'reset', 'task': {'hook': attack}, 'profile': attack, 'keyframe': attack},
            {'type': 'action', 'action': attack, 'hook': attack},
        ):
            with opened(port('chiral'), '/view') as link:
                link.sendall(frame(packed(message)))
                link.sendall(frame(b'\x03\xe8', 0x88))
                rest(link)
    with StockClient(f'ws://127.0.0.1:{port("chiral")}/') as driver:
        assert driver.reset().proprios


def test_pages_and_their_messages_stay_inside(gateways, port):
    url = f'ws://127.0.0.1:{port("webxr")}'
    for path in gateways[0].paths():
        for target in (path, f'/js/{path}', f'/bodies/{path}'):
            safe = target.replace(' ', '%20').replace('\0', '%00')
            with dial(port('webxr')) as link:
                link.sendall(f'GET {safe} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.encode())
                link.shutdown(socket.SHUT_WR)
                answer = rest(link)
            assert SECRET.encode() not in answer
            assert b' 200 ' not in answer[:20] or target == '/'
        with FieldClient(url, 'publisher', owner_id=path[:128]) as client:
            client.send('add_mesh', dict.fromkeys(('mesh_id', 'mesh_data_b64', 'uri'), path))
            client.answer('error')


@pytest.mark.parametrize('kind', ['agents', 'monitors'])
def test_simspark_peers_stay_inside(gateways, port, kind):
    house, running = gateways
    place = int(re.search(rf'{kind}=(\d+)', running['simspark'][1])[1])
    for path in house.paths():
        text = path.replace('\0', '').replace('"', '').replace('(', '').replace(')', '')
        with closing(RawPeer(place)) as peer:
            for command in ('scene', 'loadScene', 'log', 'init'):
                peer.send(f'({command} {text})'.encode(errors='replace'))
            if kind == 'monitors':  # commands are executed in their order
                peer.send('(getAck done)')
                peer.receive_until(lambda text: text == '(ack done)')
