# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Declarations of a feature: topics, actions, frames and services.

Names are as users see them: a leading slash is absolute, ``~/`` is below the name of the node, and
everything else below its namespace.  ``{robot}/`` is the namespace of a robot, and vanishes where
robots have none.  No ROS is needed here.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import re
from types import MappingProxyType
from typing import Any
import warnings

from urlab_ros_bridge.wire.errors import UrlabError


@dataclass(frozen=True, slots=True)
class Topic:
    """
    One topic, or many of one pattern.

    :ivar name: pattern of its name.
    :ivar types: its type, or those that it may have.
    :ivar profile: function of `rclpy_tools.qos` that makes its quality of service.
    :ivar when: which worlds have it; empty: all.
    :ivar rate: parameter that limits its rate; of a subscribed topic, parameters that concern it.
    :ivar switch: parameter, or parameters, that switch it off when all of them are false.
    :ivar incoming: whether the bridge subscribes to it.
    :ivar each_instant: whether nodes in lockstep may answer it: then each instant of a lockstep is
        published, whatever the rate.
    :ivar timing: when it is published, in words, if no parameter limits its rate.
    """

    name: str
    types: tuple[str, ...]
    profile: str
    when: str = ''
    rate: str = ''
    switch: str | tuple[str, ...] = ()
    incoming: bool = False
    each_instant: bool = False
    timing: str = ''

    def __post_init__(self) -> None:
        """Take a rate in words, which was allowed before there was `timing`, as the timing."""
        if self.rate == 'once' or not all(map(str.isidentifier, names_in(self.rate))):
            text = (
                f'{self.name}: rate={self.rate!r} names no parameter; write timing={self.rate!r}'
            )
            warnings.warn(text, DeprecationWarning, stacklevel=3)
            object.__setattr__(self, 'timing', self.rate)
            object.__setattr__(self, 'rate', '')
        if isinstance(self.switch, str) and ',' in self.switch:
            text = f'{self.name}: switch={self.switch!r} has several names; write a tuple'
            warnings.warn(text, DeprecationWarning, stacklevel=3)

    @property
    def switches(self) -> tuple[str, ...]:
        """The parameters of `switch`."""
        return tuple(names_in(self.switch)) if isinstance(self.switch, str) else self.switch

    def named(self, namespace: str, parts: Mapping[str, str] = MappingProxyType({})) -> str:
        """
        Return the name in a robot's namespace, with the other fields of the pattern filled in.

        >>> Topic('{robot}/imu/{site}/data', (), '').named('rover', {'site': 'torso'})
        'rover/imu/torso/data'
        """
        return _named(self.name, namespace, parts)

    def fits(self, name: str) -> bool:
        """
        Return whether a full name is of this pattern, for a node without namespace.

        >>> Topic('{robot}/odom', (), '').fits('/rover_1/odom'), Topic('odom', (), '').fits('/x')
        (True, False)
        """
        return re.fullmatch(pattern(self.name), name) is not None


@dataclass(frozen=True, slots=True)
class RosAction:
    """One action: pattern of its name, its type, and which robots have it."""

    name: str
    type_name: str
    when: str

    def named(self, namespace: str, parts: Mapping[str, str]) -> str:
        """Return the name in a robot's namespace, with the other fields filled in."""
        return _named(self.name, namespace, parts)


@dataclass(frozen=True, slots=True)
class FrameRule:
    """
    Transforms of one kind.

    :ivar parent, child: frames; names in capitals are parameters.
    :ivar topic: tf or tf_static.
    :ivar switch: parameter that switches them on or off.
    """

    parent: str
    child: str
    topic: str
    when: str
    switch: str = ''


class ServiceGroup(Enum):
    """Requests of one group are handled one after the other, beside those of other groups."""

    WORLD = 'may change the world; handled after a world that is being read'
    ENTITIES = 'spawns or deletes; imports first, then takes a turn among those of WORLD'
    URGENT = 'short, and does not wait for long ones; handled after a world that is being read'
    INDEPENDENT = 'of requests that change the world'
    EXECUTOR = 'urgent, and handled at once: in the executor, so it must not wait'


@dataclass(frozen=True)
class Service:
    """
    One service, or one action of the simulation standard.

    :ivar name: of the bridge's own dialect below ~/, and with the parameter root_services in the
        namespace of the node too; of the standard, there alone.
    :ivar handler: takes what its dialect works with (a `ServiceContext`, or the
        `SimulationContext` of the standard), the request and the response, which it fills in;
        returns the text of the answer.  Of an action: makes its server.  The first line of its
        docstring is its description in the documentation.
    :ivar ops: requests of the wire that it may make; None: the one of its own name.
    :ivar dialect: urlab: answers with success, code and message; standard: with the Result of
        simulation_interfaces.
    :ivar serves: of the standard: feature -> extension of the server that it needs, or ''.
    :ivar needs: extension without which nothing of it is served, empty for none.
    :ivar kind: srv or action.
    :ivar group: what its requests are handled one after the other with; a function returns it
        for a request.
    """

    name: str
    type_name: str
    handler: Callable[..., Any]
    ops: tuple[str, ...] | None = None
    dialect: str = 'urlab'
    serves: Mapping[Any, str] = field(default_factory=dict, hash=False)
    needs: str = ''
    kind: str = 'srv'
    group: ServiceGroup | Callable[[Any], ServiceGroup] = ServiceGroup.WORLD

    def group_of(self, request: Any) -> ServiceGroup:
        """Return the group of a request."""
        return self.group if isinstance(self.group, ServiceGroup) else self.group(request)

    @property
    def requests(self) -> tuple[str, ...]:
        """Return the requests of the wire that it may make."""
        return (self.name,) if self.ops is None else self.ops

    @property
    def effect(self) -> str:
        """Return what it does, in a sentence without its full stop."""
        return (self.handler.__doc__ or '').strip().partition('\n')[0].rstrip('.')


class RequestRejected(UrlabError):
    """A request of a service that the bridge itself rejects, with its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def names_in(text: str) -> list[str]:
    """
    Return names that are separated by commas.

    >>> names_in('a, b'), names_in('')
    (['a', 'b'], [])
    """
    return text.split(', ') if text else []


def _named(name: str, namespace: str, parts: Mapping[str, str]) -> str:
    start = f'{namespace}/' if namespace else ''
    return name.replace('{robot}/', start).format(**parts)


def pattern(name: str) -> str:
    """Return the regular expression of the full names of a pattern, in the root namespace."""
    name = name.replace('~/', '/urlab_bridge/')
    expression = re.escape(name if name.startswith('/') else f'/{name}')
    expression = expression.replace(re.escape('{robot}/'), r'(?:[A-Za-z]\w*/)?')
    return re.sub(r'\\\{\w+\\\}', r'[A-Za-z]\\w*', expression)
