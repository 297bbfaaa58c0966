# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What is spawned: an MJCF or URDF text, or a file of the data folder or of the bundled models.

Meshes, height fields and textures are looked for beside the file, or in the data folder for a
text, and must lie where clients may read (`files`).  A URDF robot stands free, unless its root
link is called ``world``, as ROS has it; its visual geometry is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
import re
from typing import Any
from xml.etree import ElementTree

import mujoco

from urlab_ros_bridge.sim.editor.files import BUNDLED
from urlab_ros_bridge.sim.editor.files import read_user_file
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.fields import Fields
from urlab_ros_bridge.sim.paths import DataFolder
from urlab_ros_bridge.sim.sidecar import load_sidecar
from urlab_ros_bridge.sim.specs import ArticulationSpec
from urlab_ros_bridge.sim.yaml_fields import SidecarError

MAX_TEXT = 16 << 20  # characters
_NO_NAME = 'MuJoCo Model'  # what MuJoCo calls a model without a name
_SIDECARS = ('.yaml', '.yml')
_URDF_OPTIONS = {'discardvisual': 'false', 'fusestatic': 'false', 'strippath': 'false'}


@dataclass(frozen=True, slots=True)
class Source:
    """
    A model that was read but not yet compiled.

    :ivar settings: what a sidecar says of the robot, None without one.
    """

    spec: mujoco.MjSpec
    settings: ArticulationSpec | None

    @property
    def own_name(self) -> str:
        """Return what the model calls itself, or its first body; '' when it says nothing."""
        if self.spec.modelname not in ('', _NO_NAME):
            return self.spec.modelname
        return next((body.name for body in self.spec.bodies[1:] if body.name), '')


def read_source(data: DataFolder, fields: Fields) -> Source:
    """
    Read the `xml` or the `file` of a request.

    :raises OpError: missing_field, path_not_readable, import_failed, missing_assets.
    """
    if ('xml' in fields) == ('file' in fields):
        raise OpError('missing_field', 'one of xml and file')
    if 'xml' in fields:
        spec = _from_text(fields.string('xml'))
        folder, settings = data.root, None
    else:
        path, settings = _find(data, fields.string('file'))
        spec, folder = _from_file(path), path.parent
    _pin_files(data, spec, folder)
    return Source(spec, settings)


def _find(data: DataFolder, text: str) -> tuple[Path, ArticulationSpec | None]:
    """Return the model file, and what a sidecar with one robot says of it."""
    bundled = BUNDLED / text
    if text in os.listdir(BUNDLED) and not (data.root / text).exists():
        text = str(bundled)
    path = read_user_file(data, text, '.', 'path_not_readable')
    if path.suffix not in _SIDECARS:
        return path, None
    try:
        robots = load_sidecar(path).articulations
    except SidecarError as error:
        raise OpError('import_failed', str(error)) from error
    if len(robots) != 1:
        raise OpError('import_failed', f'{path.name} has {len(robots)} robots; it must have one')
    model = os.path.realpath(robots[0].model)
    return read_user_file(data, model, '.', 'path_not_readable'), robots[0]


def _from_file(path: Path) -> mujoco.MjSpec:
    try:
        text = path.read_text(encoding='utf-8-sig')
    except (OSError, UnicodeDecodeError) as error:
        raise OpError('path_not_readable', f'{path.name}: {error}') from error
    root = _parse(text, path.name)
    if root.tag == 'robot':
        return _urdf(root)
    try:
        # Not from the text: files that it includes lie beside it.
        return mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        raise import_failed(error) from error


def _from_text(text: str) -> mujoco.MjSpec:
    root = _parse(text, 'xml')
    if root.tag == 'robot':
        return _urdf(root)
    if next(root.iter('include'), None) is not None:
        raise OpError('import_failed', 'a text includes nothing: give a file, or the whole text')
    return _load(text)


def _parse(text: str, what: str) -> ElementTree.Element:
    if len(text) > MAX_TEXT:
        raise OpError('import_failed', f'{what} has more than {MAX_TEXT} characters')
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise OpError('import_failed', f'{what} is no XML: {error}') from error
    if root.tag not in ('mujoco', 'robot'):
        raise OpError('import_failed', f'{what} is <{root.tag:.40}>, not <mujoco> or <robot>')
    return root


def _load(text: str) -> mujoco.MjSpec:
    try:
        return mujoco.MjSpec.from_string(text)
    except (ValueError, RuntimeError) as error:
        raise import_failed(error) from error


def _urdf(root: ElementTree.Element) -> mujoco.MjSpec:
    extension = root.find('mujoco')
    if extension is None:
        extension = ElementTree.SubElement(root, 'mujoco')
    compiler = extension.find('compiler')
    if compiler is None:
        compiler = ElementTree.SubElement(extension, 'compiler')
    for name, value in _URDF_OPTIONS.items():
        compiler.attrib.setdefault(name, value)
    spec = _load(ElementTree.tostring(root, encoding='unicode'))
    fixed = any(link.get('name') == 'world' for link in root.iter('link'))
    for body in [] if fixed else spec.worldbody.bodies:
        if not list(body.joints):
            body.add_freejoint()
    return spec


def import_failed(error: Exception) -> OpError:
    """Return the error of a model that MuJoCo refuses: the first line of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return OpError('import_failed', lines[0] if lines else type(error).__name__)


def _pin_files(data: DataFolder, spec: mujoco.MjSpec, folder: Path) -> None:
    """Make all file names absolute, and see that they are there and may be read."""
    for elements, below in (
        (spec.meshes, spec.meshdir),
        (spec.hfields, spec.meshdir),
        (spec.skins, spec.meshdir),
        (spec.textures, spec.texturedir),
    ):
        for element in elements:
            if element.file:
                _keep_name(element)
                element.file = _locate(data, folder, below, element.file, spec.strippath)
    for texture in spec.textures:
        for side, name in enumerate(texture.cubefiles):
            if name:
                texture.cubefiles[side] = _locate(
                    data, folder, spec.texturedir, name, spec.strippath
                )
    spec.meshdir = spec.texturedir = ''


def _keep_name(element: Any) -> None:
    """Give an asset without a name that of its file, as MuJoCo would."""
    if not element.name:
        element.name = Path(element.file).stem


def _locate(data: DataFolder, folder: Path, below: str, name: str, strip: bool) -> str:
    """
    Return where a file is.

    :raises OpError: missing_assets.
    """
    text = Path(name).name if strip else name
    # MuJoCo leaves one slash of two.
    package = re.match('package:/+', text)
    text = re.sub('^(package:/+|file:/*(?=/))', '', text)
    places = [folder / below / text]
    if package:
        first, _, rest = text.partition('/')
        places = [data.root / text]
        places += [parent / rest for parent in (folder, *folder.parents) if parent.name == first]
    for place in places:
        path = Path(os.path.realpath(place))
        if not path.is_file():
            continue
        if path.is_relative_to(BUNDLED) or path.is_relative_to(data.root):
            return str(path)
        try:
            return str(data.for_reading(str(path)))
        except OpError as error:
            raise OpError('missing_assets', f'{name}: {error}') from error
    where = 'beside the model' if folder != data.root else f'in {data.root}'
    raise OpError('missing_assets', f'there is no file {name!r:.200} {where}')


__all__ = ['Source', 'import_failed', 'read_source']
