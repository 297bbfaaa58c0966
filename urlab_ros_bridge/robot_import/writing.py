# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Write an imported robot: its MJCF, a scene with floor, light and sky, and the sidecar."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import hashlib
import os
from pathlib import Path
import shutil
from typing import Any
import xml.etree.ElementTree as ElementTree

import mujoco
import yaml

from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.robot_import.errors import FilesExist
from urlab_ros_bridge.robot_import.spec import IMPRATIO
from urlab_ros_bridge.robot_import.spec import TIMESTEP

_OPTION = (
    f'<option timestep="{TIMESTEP}" integrator="implicitfast" cone="elliptic" '
    f'impratio="{IMPRATIO}"/>'
)
_SCENE = """<mujoco model="scene">
  {option}
  <statistic center="0 0 0.5" extent="2"/>
  <visual>
    <headlight diffuse="0.5 0.5 0.5" ambient="0.3 0.3 0.3" specular="0 0 0"/>
    <global azimuth="130" elevation="-20"/>
  </visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.6 0.75 0.9" rgb2="0.95 0.97 1"
      width="256" height="1536"/>
    <texture name="floor" type="2d" builtin="checker" rgb1="0.55 0.6 0.65" rgb2="0.5 0.55 0.6"
      mark="edge" markrgb="0.7 0.7 0.7" width="300" height="300"/>
    <material name="floor" texture="floor" texuniform="true" texrepeat="1 1"/>
  </asset>
  <worldbody>
    <light name="sun" type="directional" pos="0 0 5" dir="0.3 0.4 -1" castshadow="true"/>
    <geom name="floor" type="plane" size="0 0 0.1" material="floor"/>
    <camera name="overview" pos="{x} {y} {z}" xyaxes="{axes}"/>
  </worldbody>
</mujoco>
"""


def mjcf_text(spec: mujoco.MjSpec, model: mujoco.MjModel) -> str:
    """
    Return the MJCF of a compiled spec with the places and masses of bodies in full precision.

    MuJoCo writes six digits, and a chain of links would add up what they lack.
    """
    root = ElementTree.fromstring(spec.to_xml())
    for element in root.iter('body'):
        body = model.body(element.get('name')).id
        _set(element, 'pos', model.body_pos[body])
        _set(element, 'quat', model.body_quat[body])
        inertial = element.find('inertial')
        if inertial is not None:
            inertial.attrib.pop('fullinertia', None)
            _set(inertial, 'pos', model.body_ipos[body])
            _set(inertial, 'quat', model.body_iquat[body])
            _set(inertial, 'mass', [model.body_mass[body]])
            _set(inertial, 'diaginertia', model.body_inertia[body])
        for item in element.findall('joint'):
            joint = model.joint(item.get('name')).id
            _set(item, 'axis', model.jnt_axis[joint])
            if 'range' in item.attrib:
                _set(item, 'range', model.jnt_range[joint])
    for index, item in enumerate(root.findall('equality/joint')):
        _set(item, 'polycoef', model.eq_data[index][:5])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode') + '\n'


def _set(element: ElementTree.Element, name: str, values: Sequence[float]) -> None:
    element.set(name, ' '.join(repr(float(value)) for value in values))


def scene_text(reach: float, height: float, option: str = _OPTION) -> str:
    """
    Return the MJCF of the scene, with a camera that sees the whole robot.

    :param reach: greatest extent of the robot (m).
    :param height: of its middle above the floor (m).
    :param option: MJCF element with the physics options.
    """
    distance = max(0.5, 1.6 * reach)
    # From the front left, looking down by a quarter of the distance.
    pose = {'x': distance, 'y': distance, 'z': height + distance / 2}
    shown = {name: f'{value:.3f}' for name, value in pose.items()}
    return _SCENE.format(**shown, option=option, axes='-1 1 0 -0.25 -0.25 1')


def option_text(spec: mujoco.MjSpec) -> str:
    """Return the physics options of a compiled spec, for the scene that it is put into."""
    option = ElementTree.fromstring(spec.to_xml()).find('option')
    return '' if option is None else ElementTree.tostring(option, encoding='unicode').strip()


def write_robot(
    folder: Path, name: str, texts: Mapping[str, str], sidecar: Mapping[str, Any]
) -> Path:
    """
    Write the files of a robot, in place of older ones.

    :param texts: contents by file name.
    :return: the sidecar.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        write_whole(folder / file, text.encode())
    path = folder / f'{name}.yaml'
    write_whole(path, yaml.safe_dump(dict(sidecar), sort_keys=False, width=99).encode())
    return path


def export_files(
    folder: Path,
    name: str,
    texts: Mapping[str, str],
    sidecar: Mapping[str, Any],
    *,
    overwrite: bool,
) -> Path:
    """
    Write the files of a robot or world into a folder of its own, meshes included.

    :param overwrite: whether files in the folder may be replaced.
    :return: the sidecar.
    :raises FilesExist: naming the files.
    :raises OSError: when the folder cannot be written.
    """
    existing = [file for file in (*texts, f'{name}.yaml') if os.path.lexists(folder / file)]
    if existing and not overwrite:
        raise FilesExist(folder, existing)
    files = {
        file: copy_meshes(text, folder / 'meshes') if '<mesh ' in text else text
        for file, text in texts.items()
    }
    return write_robot(folder, name, files, sidecar)


def content_digest(texts: Mapping[str, str], sidecar: Mapping[str, Any]) -> str:
    """Return a digest of what `write_robot` writes."""
    content = [*texts.values(), yaml.safe_dump(dict(sidecar))]
    return hashlib.sha256('\0'.join(content).encode()).hexdigest()[:16]


def copy_meshes(mjcf: str, folder: Path) -> str:
    """Copy the meshes of an MJCF text into a folder beside it; return the text that names them."""
    root = ElementTree.fromstring(mjcf)
    folder.mkdir(parents=True, exist_ok=True)
    for mesh in root.iter('mesh'):
        source = Path(mesh.get('file', ''))
        shutil.copyfile(source, folder / source.name)
        mesh.set('file', source.name)
    compiler = root.find('compiler')
    if compiler is None:
        compiler = ElementTree.SubElement(root, 'compiler')
    compiler.set('meshdir', folder.name)
    return ElementTree.tostring(root, encoding='unicode') + '\n'
