# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An editor with a dispatcher around it, without sockets; files to import."""

from dispatching import dispatch
from lasting_trial import with_lasting_trial
import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.editor import LevelEditor
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.encoding import codec

# The root body stands off the frame of the file, turned.
ARM = """
<mujoco model="arm">
  <worldbody>
    <body name="base" pos="0.1 0 0.5" euler="0 0 30">
      <freejoint/>
      <geom name="hull" type="box" size=".1 .2 .3"/>
      <geom name="shell" type="sphere" pos="0 0 .8" size=".1" contype="0" conaffinity="0"/>
      <body name="link" pos="0 0 .3">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/>
        <camera name="eye"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="hinge"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/></sensor>
  <keyframe><key name="bent" qpos="0 0 1 1 0 0 0 0.7"/></keyframe>
</mujoco>
"""
# Two tetrahedra of edge 1, 5 m apart along x.
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
FACES = ((1, 3, 2), (1, 2, 4), (2, 3, 4), (1, 4, 3))
PAIR = '\n'.join(
    [f'v {x + far} {y} {z}' for far in (0, 5) for x, y, z in CORNERS]
    + [f'f {a + base} {b + base} {c + base}' for base in (0, 4) for a, b, c in FACES]
)


class Failed(Exception):
    def __init__(self, reply):
        self.code, self.message = reply['code'], reply['message']
        super().__init__(f'{self.code}: {self.message}')


class Desk:
    """An editor on a data folder of its own; `ask` sends requests, error replies are raised."""

    def __init__(self, folder, **config):
        self.folder = folder
        config = ServerConfig(data_dir=folder, editor=True, world='', **config)
        self.host = with_lasting_trial(SimulationHost(config))
        self.editor = self.host.editor = LevelEditor(self.host)
        registry = build_registry(editor=True)
        self.dispatcher = Dispatcher(self.host, registry, pre_session_ops(registry))
        self.session_id = ''
        self.session_id = self.ask('hello', shared=True)['session_id']

    def ask(self, op, **fields):
        request = {'op': op, 'session_id': self.session_id, **fields}
        reply = codec.unpack(dispatch(self.dispatcher, codec.pack(request)), 1 << 30)
        if reply['op'] == 'error':
            raise Failed(reply)
        return reply

    def fails(self, op, **fields):
        with pytest.raises(Failed) as caught:
            self.ask(op, **fields)
        return caught.value

    def code(self, op, **fields):
        return self.fails(op, **fields).code

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def actors(self):
        return {row['name']: row for row in self.ask('list_actors')['actors']}

    def play(self):
        reply = self.ask('begin_pie')
        assert reply['state'] == 'ready', reply['compile_error']
        return reply

    @property
    def world(self):
        return self.host.simulation.world


@pytest.fixture
def desk(tmp_path):
    """Return a desk with arm.xml and pair.obj in its data folder."""
    made = Desk(tmp_path / 'data')
    made.folder.mkdir()
    made.write('arm.xml', ARM)
    made.write('pair.obj', PAIR)
    yield made
    made.editor.close()
