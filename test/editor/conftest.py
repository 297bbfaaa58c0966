# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An editor with a dispatcher around it, without sockets; files to import."""

from mesh_files import tetrahedra
import pytest
from rig import DispatchCaller

from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.extension import extension_of
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.simulation import SimulationHost

# The root body is translated and rotated in the frame of the file.
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
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="hinge"/></actuator>
</mujoco>
"""
# 5 m apart along x.
PAIR = tetrahedra(offsets=(0, 5))


class Desk(DispatchCaller):
    """An editor on a data folder of its own."""

    def __init__(self, folder, **config):
        self.folder = folder
        host = SimulationHost(ServerConfig(data_dir=folder, world='', **config))
        self.editor = LevelEditor(host)
        super().__init__(host, lambda _: extension_of(self.editor))

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
