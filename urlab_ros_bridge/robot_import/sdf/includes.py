# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Put in what `<include>` names, so that the rest of the import meets models alone.

A merged model gets a frame where its own frame was, and what was relative to that is relative to
this frame.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from typing import cast

from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.sdf.document import new_element
from urlab_ros_bridge.robot_import.sdf.document import read_sdf
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.robot_import.sdf.frames import Scope
from urlab_ros_bridge.robot_import.sdf.resources import Resources

_MAX_DEPTH, _MAX_MODELS = 20, 10_000
# What may carry the name of a frame of its model: element and attribute, '' for its text.
_FRAMES = (
    ('pose', 'relative_to'),
    ('frame', 'attached_to'),
    ('xyz', 'expressed_in'),
    ('parent', ''),
    ('child', ''),
)


class Includes:
    """
    Replaces includes by models.

    :ivar missing: problems of models that are not there, by URI.
    """

    def __init__(self, resources: Resources) -> None:
        self.missing: dict[str, str] = {}
        self._resources = resources
        self._count = 0

    def expand(self, element: SdfElement, within: tuple[Path, ...] = ()) -> None:
        """
        Replace the includes below an element, and those of models in it.

        :param within: the files that include this one, outermost first.
        :raises InvalidDescription: naming the include.
        """
        for child in list(element):
            child = cast(SdfElement, child)
            if child.tag == 'include':
                place = list(element).index(child)
                element.remove(child)
                for offset, made in enumerate(self._included(child, element, within)):
                    made.parent = element
                    element.insert(place + offset, made)
            elif child.tag in ('model', 'world'):
                self.expand(child, within)

    def _included(
        self, include: SdfElement, element: SdfElement, within: tuple[Path, ...]
    ) -> list[SdfElement]:
        uri = include.value('uri')
        if not uri:
            raise include.failure('<uri> is missing')
        self._count += 1
        if len(within) >= _MAX_DEPTH or self._count > _MAX_MODELS:
            raise include.failure(
                f'more than {_MAX_DEPTH} includes in one another, or {_MAX_MODELS} in all'
            )
        try:
            file = self._resources.model_file(self._resources.file(uri, include.source))
        except PackageNotFound as error:
            self.missing[uri] = str(error)
            return []
        if file.resolve() in within:
            raise include.failure(f'{uri} includes itself')
        if not self._resources.exists(file):
            self.missing[uri] = f'{file} does not exist'
            return []
        root = read_sdf(file, self._resources.read)
        within = (*within, include.source.resolve(), file.resolve())
        found = [child for child in root if child.tag in ('model', 'light', 'actor')]
        if len(found) != 1:
            raise include.failure(f'{file} must have one model or light, not {len(found)}')
        model = cast(SdfElement, found[0])
        self.expand(model, within)
        self._override(include, model)
        if include.get('merge', 'false').lower() in ('true', '1') and element.tag == 'model':
            return _merged(include, model)
        return [model]

    def _override(self, include: SdfElement, model: SdfElement) -> None:
        """Apply what the include says of the model."""
        if name := include.value('name'):
            model.set('name', name)
        if include.value('placement_frame'):
            model.set('placement_frame', include.value('placement_frame'))
        for tag in ('pose', 'static'):
            given = include.first(tag)
            if given is not None:
                for old in model.findall(tag):
                    model.remove(old)
                given.parent = model
                model.insert(0, given)
        for plugin in include.all('plugin'):
            plugin.parent = model
            model.append(plugin)


def _merged(include: SdfElement, model: SdfElement) -> list[SdfElement]:
    """Return the parts of a model for the model that includes it with `merge`."""
    name = f'_merged__{model.get("name")}__model__'
    frames = [_frame(include, name, model.findall('pose'))]
    if placed := model.get('placement_frame', ''):
        # The pose is that of a frame of the model, so the model's own is back from there.
        there = f'{name}placement__'
        back = Scope(model).pose(placed, model).inverse()
        pose = new_element('pose', include, {'relative_to': there, 'rotation_format': 'quat_xyzw'})
        pose.text = ' '.join(map(repr, (*back.position, *back.orientation)))
        frames = [_frame(include, there, model.findall('pose')), _frame(include, name, [pose])]
    parts = [cast(SdfElement, child) for child in model if child.tag not in ('pose', 'static')]
    for part in parts:
        if part.tag in ('link', 'model') and not part.relative_to():
            _relative_to(part, name)
        if part.tag == 'frame' and not part.relative_to() and not part.get('attached_to'):
            part.set('attached_to', name)
        if part.tag != 'model':  # its own frames are its own
            _rename(part, name)
        elif part.relative_to() == '__model__':
            _relative_to(part, name)
    return [*frames, *parts]


def _frame(include: SdfElement, name: str, poses: list[Any]) -> SdfElement:
    frame = new_element('frame', include, {'name': name})
    frame[:] = poses
    return frame


def _relative_to(part: SdfElement, frame: str) -> None:
    pose = part.first('pose')
    if pose is None:
        pose = new_element('pose', part, {})
        part.append(pose)
    pose.set('relative_to', frame)


def _rename(part: SdfElement, frame: str) -> None:
    for tag, attribute in _FRAMES:
        for element in part.iter(tag):
            if attribute and element.get(attribute) == '__model__':
                element.set(attribute, frame)
            elif not attribute and (element.text or '').strip() == '__model__':
                element.text = frame
