# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Where things are: the frames of SDF, resolved.

Rules of "Pose frame semantics" (SDF 1.7 and later); older files differ in the frame of a joint's
axis alone.  Every pose is resolved within its model; names with ``::`` lead into nested models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.schema import hint

MODEL, WORLD = '__model__', 'world'
SEPARATOR = '::'
_AXES_IN_MODEL = (1, 5)  # in older files an axis is in the model's frame
_NAMED = ('link', 'model', 'joint', 'frame')


class Scope:
    """
    The names of a world or model.

    :ivar element: `<world>` or `<model>`.
    :ivar prefix: names of the models around it, each with ``::`` behind.
    """

    def __init__(self, element: SdfElement, prefix: str = '') -> None:
        """
        Read the names.

        :raises InvalidDescription: when one is missing or there twice.
        """
        self.element, self.prefix = element, prefix
        self._named: dict[str, SdfElement] = {}
        self._poses: dict[str, Pose] = {}
        self._pending: list[str] = []
        for tag in _NAMED:
            for child in element.all(tag):
                name = child.get('name', '')
                if name in self._named and tag in ('joint', 'frame'):
                    # Allowed until SDF 1.6; others of the model mean the link.
                    name = f'{name}_{tag}'
                    child.set('name', name)
                if not name or name in self._named:
                    problem = 'has no name' if not name else f'{name!r} is the name of two things'
                    raise child.failure(problem)
                self._named[name] = child

    @cached_property
    def models(self) -> dict[str, Scope]:
        """Return the models in it, by name."""
        own = '' if self.element.tag == 'world' else f'{self.prefix}{self.element.get("name")}::'
        return {
            name: Scope(child, own) for name, child in self._named.items() if child.tag == 'model'
        }

    def pose(self, name: str, asker: SdfElement) -> Pose:
        """
        Return the pose of a link, joint, frame or model in this model, or in the world.

        :param asker: the element that names it, for errors.
        :raises InvalidDescription: for an unknown name, or a circle.
        """
        if name in ('', MODEL) or (name == WORLD and self.element.tag == 'world'):
            return AT_ORIGIN
        first, _, rest = name.partition(SEPARATOR)
        if rest and first in self.models:
            return self.pose(first, asker).then(self.models[first].pose(rest, asker))
        if name not in self._poses:
            if name in self._pending:
                circle = ' -> '.join([*self._pending, name])
                raise asker.failure(f'poses are relative to each other in a circle: {circle}')
            self._pending.append(name)
            self._poses[name] = self._resolved(self._element(name, asker))
            self._pending.pop()
        return self._poses[name]

    def pose_of(self, element: SdfElement) -> Pose:
        """Return the pose of what stands in this scope without a name of its own: a light."""
        return self.pose(element.relative_to(), element).then(element.pose())

    def _element(self, name: str, asker: SdfElement) -> SdfElement:
        if name not in self._named:
            raise asker.failure(f'{name!r} is unknown; {hint(name, self._named)}')
        return self._named[name]

    def _resolved(self, element: SdfElement) -> Pose:
        usual = {'joint': 'child', 'frame': ''}.get(element.tag, '')
        base = element.relative_to()
        if not base and element.tag == 'joint':
            base = element.value(usual)
        if not base and element.tag == 'frame':
            base = element.get('attached_to', '')
        pose = self.pose(base, element).then(element.pose())
        placed = element.get('placement_frame', '')
        if placed and element.tag == 'model':
            inside = self.models[element.get('name', '')].pose(placed, element)
            return pose.then(inside.inverse())
        return pose

    def link(self, name: str, asker: SdfElement) -> str:
        """
        Return the link that a name of this model is attached to, with the models around it.

        :return: '' for the world.
        :raises InvalidDescription: for an unknown name, or a model without links.
        """
        seen: list[str] = []
        while True:
            if name == WORLD:
                return ''
            if name in ('', MODEL):
                return self.canonical_link(asker)
            first, _, rest = name.partition(SEPARATOR)
            if rest and first in self.models:
                return first + SEPARATOR + self.models[first].link(rest, asker)
            element = self._element(name, asker)
            if element.tag == 'link':
                return name
            if element.tag == 'model':
                return name + SEPARATOR + self.models[name].canonical_link(asker)
            if name in seen:
                raise asker.failure(f'frames are attached to each other in a circle: {seen}')
            seen.append(name)
            name = (
                element.value('child')
                if element.tag == 'joint'
                else element.get('attached_to', '')
            )

    def canonical_link(self, asker: SdfElement) -> str:
        """
        Return the link that the model's own frame is attached to.

        :raises InvalidDescription: for a model without links.
        """
        if given := self.element.get('canonical_link', ''):
            return self.link(given, self.element)
        for name, element in self._named.items():
            if element.tag == 'link':
                return name
        for name, model in self.models.items():
            return name + SEPARATOR + model.canonical_link(asker)
        raise asker.failure(f'the model {self.element.get("name")!r} has no link')


@dataclass(frozen=True, slots=True)
class Placed:
    """
    A link, with its pose in the outermost model.

    :ivar name: with the names of nested models in front.
    :ivar scope: of the model that it stands in.
    """

    name: str
    element: SdfElement
    pose: Pose
    scope: Scope


@dataclass(frozen=True, slots=True)
class PlacedJoint:
    """
    A joint, with its pose in the outermost model.

    :ivar parent: name of a link, '' for the world; `child` of a link.
    :ivar axes: unit vectors in the outermost model, one or two.
    """

    name: str
    element: SdfElement
    pose: Pose
    parent: str
    child: str
    axes: tuple[np.ndarray, ...]

    @property
    def kind(self) -> str:
        """Return its type."""
        return self.element.get('type', '')


def links_of(scope: Scope, above: Pose = AT_ORIGIN, prefix: str = '') -> Iterator[Placed]:
    """Yield the links of a model and of those in it."""
    for element in scope.element.all('link'):
        name = element.get('name', '')
        yield Placed(prefix + name, element, above.then(scope.pose(name, element)), scope)
    for name, model in scope.models.items():
        inside = above.then(scope.pose(name, model.element))
        yield from links_of(model, inside, f'{prefix}{name}{SEPARATOR}')


def joints_of(scope: Scope, above: Pose = AT_ORIGIN, prefix: str = '') -> Iterator[PlacedJoint]:
    """
    Yield the joints of a model and of those in it.

    :raises InvalidDescription: for unknown links and frames, and axes without direction.
    """
    for element in scope.element.all('joint'):
        name = element.get('name', '')
        ends = []
        for role in ('parent', 'child'):
            target = element.value(role)
            if not target:
                raise element.failure(f'<{role}> is missing')
            link = scope.link(target, element)
            ends.append(prefix + link if link else '')
        if not ends[1]:
            raise element.failure('the child is the world')
        axes = tuple(
            np.array(rotate(above.orientation, _axis(scope, element, item)))
            for tag in ('axis', 'axis2')
            if (item := element.first(tag)) is not None
        )
        if not axes and element.get('type') not in ('fixed', 'ball'):
            turned = above.then(scope.pose(name, element)).orientation
            axes = (np.array(rotate(turned, (0.0, 0.0, 1.0))),)
        pose = above.then(scope.pose(name, element))
        yield PlacedJoint(prefix + name, element, pose, ends[0], ends[1], axes)
    for name, model in scope.models.items():
        inside = above.then(scope.pose(name, model.element))
        yield from joints_of(model, inside, f'{prefix}{name}{SEPARATOR}')


def frames_of(
    scope: Scope, above: Pose = AT_ORIGIN, prefix: str = ''
) -> Iterator[tuple[str, Pose]]:
    """Yield the frames of a model or world, and of models in it, with poses in the outermost."""
    for element in scope.element.all('frame'):
        name = element.get('name', '')
        yield prefix + name, above.then(scope.pose(name, element))
    for name, model in scope.models.items():
        inside = above.then(scope.pose(name, model.element))
        yield from frames_of(model, inside, f'{prefix}{name}{SEPARATOR}')


def _axis(scope: Scope, joint: SdfElement, axis: SdfElement) -> tuple[float, float, float]:
    """Return the direction of an axis in the frame of its model."""
    xyz = axis.numbers('xyz', [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(xyz))
    if length < 1e-9:
        raise axis.failure('the axis has no direction')
    element = axis.first('xyz')
    frame = '' if element is None else element.get('expressed_in', '')
    if not frame and (axis.flag('use_parent_model_frame') or axis.version < _AXES_IN_MODEL):
        frame = MODEL
    pose = scope.pose(frame or joint.get('name', ''), axis)
    return rotate(pose.orientation, (xyz / length).tolist())
