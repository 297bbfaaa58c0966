# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A model of a client as text and files that MuJoCo can read without opening anything.

The document is read here, not by MuJoCo: includes are put in place, every element and attribute
must be on the allow-list (`words`), counts must be within `limits`, and every file that is named
is found in a folder that clients may read (`files`), read, and named by its content then.
MuJoCo gets the text that is written from the checked tree, so both interpret it alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import hashlib
from pathlib import Path
import re
from xml.etree import ElementTree

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import words
from urlab_ros_bridge.sim.model.client_models.check import check
from urlab_ros_bridge.sim.model.client_models.check import check_names
from urlab_ros_bridge.sim.model.client_models.check import parse
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.model.client_models.files import MISSING
from urlab_ros_bridge.sim.model.client_models.files import read_regular
from urlab_ros_bridge.sim.model.client_models.limits import too_large

ROOTS = ('mujoco', 'robot')
_URDF_OPTIONS = {'discardvisual': 'false', 'fusestatic': 'false'}


@dataclass(slots=True)
class Bundle:
    """
    All that a model consists of.

    :ivar fixed: a URDF with a link called world.
    :ivar xml: the text for MuJoCo's parser.
    :ivar parsed: files that are read while parsing: documents, and meshes of flexcomp.
    :ivar compiled: files that are read while compiling, by name; names are of the content.
    :ivar stems: stem of such a name -> stem of the original file name.
    """

    urdf: bool = False
    fixed: bool = False
    xml: str = ''
    parsed: dict[str, bytes] = field(default_factory=dict)
    compiled: dict[str, bytes] = field(default_factory=dict)
    stems: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """Return a digest of everything: file names identify the content of files."""
        names = '\0'.join([*sorted(self.parsed), *sorted(self.compiled)])
        return hashlib.sha256(f'{names}\0\0{self.xml}'.encode()).digest()


class Document:
    """
    Makes a `Bundle` of a document and the files that it names.

    :param folder: where relative names begin.
    :param including: the document may consist of several files.
    """

    def __init__(self, files: ClientFiles, folder: Path, including: bool) -> None:
        self._files, self._folder, self._including = files, folder, including
        self._documents = self._elements = self._bytes = 0
        self._known: dict[Path, str] = {}
        self.bundle = Bundle()

    def read(self, text: str | bytes, what: str) -> Bundle:
        """
        Read, check and rewrite the document.

        :raises OpError: import_failed, missing_assets.
        """
        root = self._parse(text, what)
        if root.tag not in ROOTS:
            raise OpError('import_failed', f'{what} is <{root.tag:.40}>, not <mujoco> or <robot>')
        self.bundle.urdf = root.tag == 'robot'
        links = (link.get('name') for link in root.iter('link'))
        self.bundle.fixed = self.bundle.urdf and 'world' in links
        self.bundle.xml = self._finished(root, self._folder)
        return self.bundle

    def _parse(self, text: str | bytes, what: str) -> ElementTree.Element:
        self._documents += 1
        if self._documents > limits.DOCUMENTS:
            raise too_large('documents of one model', self._documents, limits.DOCUMENTS)
        root = parse(text, what)
        self._elements += sum(1 for _ in root.iter())
        if self._elements > limits.ELEMENTS:
            raise too_large('elements of one model', self._elements, limits.ELEMENTS)
        return root

    def _finished(self, root: ElementTree.Element, folder: Path) -> str:
        """Return the text of a checked and rewritten tree."""
        if root.tag == 'robot':
            self._urdf(root, folder)
        else:
            self._include(root, folder, folder)
            check(root)
            self._mjcf(root, folder)
        check_names(root)
        return ElementTree.tostring(root, encoding='unicode')

    def _include(
        self, element: ElementTree.Element, main: Path, here: Path, depth: int = 1
    ) -> None:
        """Replace includes by the included elements."""
        if depth > limits.DEPTH:
            raise too_large('nested elements', depth, limits.DEPTH)
        if all(child.tag != words.INCLUDE for child in element):
            for child in element:
                self._include(child, main, here, depth + 1)
            return
        children: list[ElementTree.Element] = []
        for child in element:
            if child.tag != words.INCLUDE:
                self._include(child, main, here, depth + 1)
                children.append(child)
                continue
            if not self._including:
                raise OpError(
                    'import_failed',
                    'MJCF given as text cannot include files: give a file, or the whole text',
                )
            if set(child.attrib) != {'file'}:
                raise OpError('import_failed', '<include> takes only the attribute file')
            path = self._files.find(child.get('file', ''), [main, here])
            root = self._parse(read_regular(path, MISSING, limits.CHARACTERS), path.name)
            self._include(root, main, path.parent, depth)
            children += root
        element[:] = children

    def _mjcf(self, root: ElementTree.Element, folder: Path) -> None:
        """Replace the names of files by digests of their contents."""
        below, strip = _folders(root)
        for element in root.iter():
            for (tag, attribute), kind in words.FILES.items():
                written = element.get(attribute) if element.tag == tag else None
                if not written:
                    continue
                if attribute == 'file' and not element.get('name') and tag != 'flexcomp':
                    element.set('name', Path(written).stem)  # as MuJoCo would
                name = self._file(written, folder / below[kind], strip)
                element.set(attribute, name)
                if tag == 'flexcomp':
                    self.bundle.parsed[name] = self.bundle.compiled[name]
            if element.tag == words.MODEL[0] and element.get(words.MODEL[1]):
                self._model(element, folder)

    def _model(self, element: ElementTree.Element, folder: Path) -> None:
        """Read a document of which elements are attached to this one."""
        if not self._including:
            raise OpError(
                'import_failed',
                'MJCF given as text cannot have a <model>: give a file, or the whole text',
            )
        path = self._files.find(element.get('file', ''), [folder])
        if not element.get('name'):
            element.set('name', path.stem)
        root = self._parse(read_regular(path, MISSING, limits.CHARACTERS), path.name)
        if root.tag not in ROOTS:
            raise OpError('import_failed', f'{path.name} is <{root.tag:.40}>, not <mujoco>')
        text = self._finished(root, path.parent).encode()
        ending = 'urdf' if root.tag == 'robot' else 'xml'
        name = f'{hashlib.sha256(text).hexdigest()[:40]}.{ending}'
        self.bundle.parsed[name] = text
        element.set('file', name)

    def _urdf(self, root: ElementTree.Element, folder: Path) -> None:
        """Remove the elements that MuJoCo ignores, and read the meshes."""
        extension = root.find('mujoco')
        for other in root.findall('mujoco'):
            root.remove(other)
        _prune(root)
        if extension is None:
            extension = ElementTree.Element('mujoco')
        root.append(extension)
        _drop_unknown_elements(extension, words.URDF_MJCF)
        check(extension)
        compiler = extension.find('compiler')
        if compiler is None:
            compiler = ElementTree.SubElement(extension, 'compiler')
        below, strip = _folders(extension)
        compiler.set('strippath', 'false')
        for name, value in _URDF_OPTIONS.items():
            compiler.attrib.setdefault(name, value)
        for mesh in root.iter('mesh'):
            written = mesh.get('filename', '')
            mesh.set('filename', self._file(written, folder / below['meshdir'], strip))

    def _file(self, written: str, folder: Path, strip: bool) -> str:
        """Read a file, and return the name that it has from now on."""
        text = Path(written).name if strip else written
        path = self._files.find(text, [folder])
        known = self._known.get(path)
        if known is not None:
            return known
        if len(self._known) >= limits.FILES:
            raise too_large('files of one model', 'more', limits.FILES)
        content = read_regular(path, MISSING, limits.FILE_BYTES)
        self._bytes += len(content)
        if self._bytes > limits.FILE_BYTES:
            raise too_large('bytes of all files of one model', self._bytes, limits.FILE_BYTES)
        ending = path.suffix.lower()
        ending = ending if re.fullmatch(r'\.[a-z0-9]{1,8}', ending) else ''
        stem = hashlib.sha256(content).hexdigest()[:40]
        name = self._known[path] = f'{stem}{ending}'
        self.bundle.compiled[name] = content
        self.bundle.stems[stem] = Path(written).stem
        return name


def _folders(root: ElementTree.Element) -> tuple[dict[str, str], bool]:
    """
    Take the folders out of the compiler's settings; the last ones count.

    :return: the folders of files by attribute (meshdir, texturedir), and whether only the last
        part of a file name is used.
    """
    found: dict[str, str] = {}
    for compiler in root.iter('compiler'):
        for name in words.FOLDERS:
            if name in compiler.attrib:
                found[name] = compiler.attrib.pop(name)
    assets = found.get('assetdir', '')
    folders = {name: found.get(name, assets) for name in ('meshdir', 'texturedir')}
    return folders, found.get('strippath') == 'true'


def _prune(element: ElementTree.Element) -> None:
    """Remove the elements and attributes of a URDF that MuJoCo ignores."""
    _drop_unknown_elements(element, words.URDF)
    for item in element.iter():
        for name in set(item.attrib) - words.URDF_ATTRIBUTES:
            del item.attrib[name]


def _drop_unknown_elements(element: ElementTree.Element, table: dict[str, frozenset[str]]) -> None:
    kept = table.get(element.tag, frozenset())
    element[:] = [child for child in element if child.tag in kept]
    for child in element:
        _drop_unknown_elements(child, table)
