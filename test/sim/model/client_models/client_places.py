# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A data folder with a folder outside of it, and documents that are read from both."""

import os

from spawn_models import TETRAHEDRON

from urlab_ros_bridge.sim.model.client_models.document import Document
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.requests.paths import DataFolder

SECRET = '<mujoco><worldbody><body name="secret"><geom size="1"/></body></worldbody></mujoco>'


class Places:
    """`data` is the folder of clients, `outside` has files that they must not read."""

    def __init__(self, folder):
        self.data, self.outside = folder / 'data', folder / 'outside'
        for place in (self.data, self.outside):
            (place / 'meshes').mkdir(parents=True)
            (place / 'meshes' / 'm.obj').write_text(TETRAHEDRON)
        (self.outside / 'o.obj').write_text(TETRAHEDRON)
        (self.outside / 'o.xml').write_text(SECRET)
        os.symlink(self.outside, self.data / 'away')
        os.symlink(self.outside / 'o.obj', self.data / 'link.obj')
        os.mkfifo(self.data / 'fifo')
        self.files = ClientFiles(DataFolder(self.data))

    def text(self, text):
        return Document(self.files, self.data, False).read(text, 'xml')

    def file(self, name):
        path = self.data / name
        return Document(self.files, path.parent, True).read(path.read_bytes(), name)

    def write(self, name, text):
        (self.data / name).write_text(text)
        return name
