# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot package as ROS users have it, with a cache of its own."""

from pathlib import Path

import pytest
import trimesh

DATA = Path(__file__).parent / 'data'
# A drive, an arm with a mimic joint, and everything that MuJoCo's reader does not take as it is.
URDF = (DATA / 'robot.urdf').read_text()
WHEEL = (DATA / 'wheel.urdf').read_text()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return a cache folder of the test."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path / 'cache' / 'urlab_ros_bridge'


@pytest.fixture
def package(tmp_path):
    """Return the folder of a package `my_robot` in a workspace, with meshes."""
    folder = tmp_path / 'src' / 'my_robot'
    (folder / 'meshes').mkdir(parents=True)
    (folder / 'urdf').mkdir()
    (folder / 'package.xml').write_text('<package><name>my_robot</name></package>')
    trimesh.creation.box((0.1, 0.1, 0.2)).export(folder / 'meshes' / 'link.stl')
    write_collada(folder / 'meshes' / 'two_colors.dae')
    return folder


@pytest.fixture
def write_robot(package):
    """Return a function that writes the robot's URDF and returns its path."""

    def write(extra: str = '', name: str = 'robot.urdf') -> Path:
        wheels = make_wheel('left_wheel', '0 0.2 0') + make_wheel('right_wheel', '0 -0.2 0')
        path = package / 'urdf' / name
        path.write_text(URDF.format(wheels=wheels, extra=extra))
        return path

    return write


@pytest.fixture(scope='session')
def wheel():
    """Return the function that describes a wheel."""
    return make_wheel


def make_wheel(name, place, parent='base_link'):
    return WHEEL.format(name=name, place=place, parent=parent)


@pytest.fixture(scope='session')
def collada():
    """Return the function that writes a Collada file of two colours."""
    return write_collada


def write_collada(path: Path, up: str = 'Z_UP', meter: float = 1.0) -> None:
    """Write a red box of 1 x 2 x 3 units and, 5 units along x, a green one of 1 x 1 x 1."""
    boxes = []
    for size, place, color in (((1, 2, 3), 0, (255, 0, 0, 255)), ((1, 1, 1), 5, (0, 255, 0, 255))):
        box = trimesh.creation.box(size)
        box.apply_translation((place, 0, 0))
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        box.visual = trimesh.visual.TextureVisuals(material=material)
        boxes.append(box)
    text = trimesh.exchange.dae.export_collada(boxes).decode()
    asset = f'<unit name="unit" meter="{meter}"/><up_axis>{up}</up_axis>'
    path.write_text(text.replace('<up_axis>Y_UP</up_axis>', asset))
