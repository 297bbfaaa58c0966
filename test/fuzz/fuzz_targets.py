# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Every decoder in one form: it takes bytes and returns, or raises an error that it documents.

`test_targets.py` tries each on some inputs that hypothesis makes of its corpus, `make fuzz` on as
many as one likes, guided by coverage (atheris).
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from functools import partial
import math
from pathlib import Path
import shutil
import tempfile
from urllib.parse import unquote_to_bytes

from gltf_files import must_stand_alone
from pitch import Pitch
from simspark_client.percepts import read_percepts

import urlab_ros_bridge
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.gateways.chiral.profile import load_profile
from urlab_ros_bridge.gateways.chiral.protocol import codec as chiral
from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame
from urlab_ros_bridge.gateways.errors import GatewayError
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.simspark.agents.effectors import decode
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import read as read_expressions
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.page.messages import BadPageMessage
from urlab_ros_bridge.gateways.virtual_field.page.messages import read_message
from urlab_ros_bridge.gateways.virtual_field.protocol import publishing
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import read_envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLTF
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import read_hello
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import read_xr_input
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.client_models.document import Document
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.model.client_models.reader import ClientModels
from urlab_ros_bridge.sim.model.client_models.trial import Trial
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.transport.keys import KeysUnusable
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.wire import camera_frame
from urlab_ros_bridge.wire import control
from urlab_ros_bridge.wire import recording
from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import WireError

CORPUS = Path(__file__).with_name('corpus')
MODELS = Path(urlab_ros_bridge.__file__).with_name('models')


@dataclass(frozen=True)
class Target:
    """
    One decoder.

    :ivar run: takes any bytes.
    :ivar promised: errors that it may raise.
    :ivar words: tokens of its language, to be put into inputs.
    """

    run: Callable[[bytes], object]
    promised: tuple[type[Exception], ...]
    words: tuple[bytes, ...] = ()

    def outcome(self, data: bytes) -> str:
        """Return 'taken', or the name of a documented error; raise any other."""
        try:
            self.run(data)
        except self.promised as error:
            return type(error).__name__
        return 'taken'


_JSON = (b'{', b'}', b'[', b']', b'null', b'true', b'1e999', b'-0', b'"', b':', b',', b'NaN',
         b'\\u')  # fmt: skip
_PACK = (b'\x80', b'\x90', b'\xa0', b'\xc0', b'\xc4', b'\xc7', b'\xca', b'\xcb', b'\xcf', b'\xd3',
         b'\xd9', b'\xdc', b'\xdd\xff\xff\xff\xff', b'\xde', b'\xdf\xff\xff\xff\xff')  # fmt: skip
_YAML = (b': ', b'\n  ', b'- ', b'[', b']', b'{', b'}', b'&a ', b'*a', b'<<: ', b'!!map ',
         b'!!binary aGk=', b'|', b'>', b'.nan', b'.inf', b'1_0', b'0o7', b'2001-01-01', b'null',
         b'-1', b'"../../x"', b'{1: 2, null: 3}', b'!!set {1, a}', b'1' + b'0' * 400)  # fmt: skip
_XML = (b'<', b'/>', b'</', b'="', b'<body>', b'<geom size="1"/>', b'<include file="',
        b'<!DOCTYPE', b'&#0;', b'<![CDATA[', b'<replicate count="', b'name="', b'nan', b'1e999',
        b'<mesh file="', b'<joint/>', b'<freejoint/>', b'<compiler ', b'<robot name="r">',
        b'<link name="', b'-1')  # fmt: skip
_LISP = (b'(', b')', b' ', b'"', b'nan', b'1e999', b'agent', b'unum', b'team', b'pos', b'syn')


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix='urlab-fuzz-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # What the sidecars of the corpus name.
    shutil.copytree(MODELS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns('*.py*'))
    return folder


def _file(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


def _of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    return lambda data: read(_file(name, data))


_ROWS = (
    rows.unpack_joint, rows.unpack_sensor, rows.unpack_base_state, rows.unpack_twist,
    rows.unpack_actions, rows.unpack_effort, rows.unpack_sim_time, rows.unpack_points,
)  # fmt: skip


def _row(data: bytes) -> None:
    if data:
        _ROWS[data[0] % len(_ROWS)](data[1:])


def _tick(data: bytes) -> None:
    """Rows as they come over a socket: a byte of length before topic and payload."""
    assembler, at = TickAssembler('auto'), 0
    while at < len(data) and at < 4096:
        parts = []
        for _ in range(2):
            size = data[at] if at < len(data) else 0
            parts.append(data[at + 1 : at + 1 + size])
            at += 1 + size
        assembler.push(*parts)
    for tick in assembler.ready:
        tick.state()


def _control(data: bytes) -> None:
    topic, _, payload = data.partition(b'\0')
    control.parse_control_topic(topic)
    control.unpack_setpoints(payload)


def _step_reply(data: bytes) -> None:
    found = StepResult(codec.unpack(data, 1 << 20))
    for robot in found.articulations.values():
        _ = robot.qpos, robot.qvel, robot.sensors


def _region(data: bytes) -> None:
    reader = RegionReader.open(_file('region.shm', data))
    try:
        reader.read()
    finally:
        reader.close()


def _chiral(data: bytes) -> None:
    header, payload = split_frame(data)
    message_type(header)
    chiral.decode_action(header, payload)


@cache
def _places() -> ClientFiles:
    folder = _folder() / 'data'
    folder.mkdir()
    (folder / 'm.obj').write_text(
        'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\n'
    )
    (folder / 'part.xml').write_text('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    return ClientFiles(DataFolder(folder))


def _document(data: bytes) -> None:
    Document(_places(), _folder() / 'data', True).read(data, 'fuzz.xml')


@cache
def _models() -> ClientModels:
    """Models as the server takes them from clients: read, tried in another process, accepted."""
    _places()
    return ClientModels(DataFolder(_folder() / 'data'), Trial(cpu=5, wall=20.0))


def _compiled(data: bytes) -> None:
    """A model: the server itself compiles it after it has passed the trial."""
    _models().of_text(data.decode('utf-8', 'replace')).spec.compile()


def _mesh(suffix: str, data: bytes) -> None:
    """A mesh file that is given to spawn."""
    models, path = _models(), _folder() / 'data' / f'mesh{suffix}'
    path.write_bytes(data)
    models.mesh(path)


def _recording(data: bytes) -> None:
    text = data.decode('utf-8', 'replace')
    half = len(text) // 2
    recording.decode([text[:half], text[half:]])


def _expressions(data: bytes) -> None:
    for item in read_expressions(data):
        decode(item)


def _trainer(data: bytes) -> None:
    """Commands of a trainer: no number that is not finite reaches the world."""
    pitch = Pitch()
    for _ in pitch.trainers().received(pitch.reply, read_expressions(data)):
        pass
    for call in pitch.moves.calls:
        assert all(math.isfinite(v) for part in call if isinstance(part, list) for v in part)


def _frames(data: bytes) -> None:
    reader = FrameReader()
    for at in range(0, len(data), 7):
        for payload in reader.feed(data[at : at + 7]):
            read_expressions(payload)


def _field(data: bytes) -> None:
    """Any message of Virtual Field, by its type."""
    envelope = read_envelope(data)
    if envelope.type == 'hello':
        read_hello(envelope.payload)
    elif envelope.type == 'xr_input':
        read_xr_input(envelope.payload)
    elif envelope.type in publishing._READERS:
        publishing.read_publication(envelope)


class _Request:
    """As much of a request as the rules of access look at."""

    def __init__(self, data: bytes) -> None:
        lines = data.decode('latin-1').split('\n')
        self.path = lines[0]
        pairs = [line.partition(':')[::2] for line in lines[1:]]
        self._pairs = [(name.strip().lower(), value.strip()) for name, value in pairs]
        self.headers = self

    def get_all(self, name: str) -> list[str]:
        """Return the values of a header."""
        return [value for key, value in self._pairs if key == name.lower()]


_ACCESS = Access(token='s3cret', origins=('https://example.org',))


def _access(data: bytes) -> None:
    request = _Request(data)
    _ACCESS.check_download(request, '192.0.2.1')
    # Nobody gets here who does not show the secret, as it is or escaped.
    assert b's3cret' in unquote_to_bytes(data) or b'urlab_token' in data
    _ACCESS.cookie_for(request)


def _keys(data: bytes) -> None:
    folder = _folder() / 'keys'
    folder.mkdir(exist_ok=True)
    first, _, second = data.partition(b'\0')
    for name, content in (('server.key', first), ('client.key_secret', second)):
        path = folder / name
        path.write_bytes(content)
        path.chmod(0o600)
    read_client_keys(folder)


TARGETS: dict[str, Target] = {
    'urlab_request': Target(codec.unpack, (WireError,), _PACK + _JSON),
    'urlab_reply': Target(lambda data: codec.unpack(data, MAX_REPLY_BYTES), (WireError,), _PACK),
    'urlab_row': Target(_row, (WireError,)),
    'urlab_topic': Target(
        rows.parse_topic, (WireError,), (b'/joint/', b'/sensor/', b'scene/', b'state/full')
    ),
    'urlab_tick': Target(_tick, (WireError, ProtocolError), (b'\x08sim_time', b'\x0astate/full')),
    'urlab_snapshot': Target(decode_snapshot, (WireError, ProtocolError), _PACK),
    'urlab_handshake': Target(
        lambda data: parse_handshake(codec.unpack(data, 1 << 20)),
        (WireError, ProtocolError),
        _PACK,
    ),
    'urlab_step_reply': Target(_step_reply, (WireError, ProtocolError), _PACK),
    'urlab_control': Target(_control, (WireError,), (b'\0', b'/control', b'control/')),
    'urlab_gains': Target(control.unpack_gains, (WireError,), _JSON),
    'urlab_camera': Target(
        lambda data: camera_frame.unpack_frame(data, 4, 4), (WireError,), (b'ucm1',)
    ),
    'shm_region': Target(_region, (RegionUnavailable, WireError), (b'URLB',)),
    'recording': Target(_recording, (WireError,), _JSON),
    'chiral_action': Target(_chiral, (GatewayError,), _PACK),
    'chiral_observation': Target(
        lambda data: chiral.decode_observation(*split_frame(data)), (GatewayError,), _PACK
    ),
    'chiral_profile': Target(_of_file('profile.yaml', load_profile), (SchemaError,), _YAML),
    'sidecar': Target(_of_file('sidecar.yaml', load_sidecar), (SchemaError,), _YAML),
    'level': Target(_of_file('level.yaml', Level.open), (SchemaError, WorldError), _YAML),
    'yaml': Target(_of_file('any.yaml', read_yaml), (SchemaError,), _YAML),
    'model': Target(_document, (OpError,), _XML),
    'compiled_model': Target(_compiled, (OpError,), _XML),
    'mesh_obj': Target(partial(_mesh, '.obj'), (OpError,), (b'v ', b'f ', b'//', b'\n')),
    'mesh_stl': Target(partial(_mesh, '.stl'), (OpError,), (b'solid', b'facet')),
    'simspark_effectors': Target(_expressions, (SimSparkError,), _LISP),
    'simspark_trainer': Target(_trainer, (SimSparkError,), (*_LISP, b'(ball (vel ', b'playMode')),
    'simspark_percepts': Target(read_percepts, (SimSparkError,), _LISP),
    'simspark_frames': Target(_frames, (SimSparkError,), _LISP),
    'gltf_values': Target(
        lambda data: must_stand_alone(rewrite_gltf(data, GLTF)), (BadMessage,), _JSON
    ),
    'webxr_message': Target(_field, (BadMessage,), _JSON),
    'webxr_page': Target(read_message, (BadPageMessage,), _JSON),
    'web_access': Target(
        _access, (HandshakeRefusal,), (b'Origin:', b'Host:', b'?token=', b'\n', b'%')
    ),
    'keys': Target(_keys, (KeysUnusable,), (b'public-key', b'secret-key', b'=', b'"', b'\0')),
}
