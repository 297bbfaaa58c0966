# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Old hooks of features of other packages: they work for one more release, with a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feed import WorldTopics

if TYPE_CHECKING:
    from urlab_ros_bridge.ros.features.feature import Bridge

_OWN = __name__.partition('.')[0]
_INSTEAD = {
    'all_started': 'append to bridge.on_started',
    'changed': 'append to bridge.on_settings',
    'extra_subscriptions': 'append to bridge.wire_needs',
    'plan_changed': 'override take_world',
    'published': 'override take_world',
}


def adopt(bridge: Bridge, feature: str, part: Any) -> None:
    """Have the old hooks of a part called."""
    old = [name for name in _INSTEAD if callable(getattr(part, name, None))]
    if not old or type(part).__module__.partition('.')[0] == _OWN:
        return
    for name in old:
        bridge.log(
            'warning',
            f'feature {feature!r}: the next release does not call {name} any more; '
            f'{_INSTEAD[name]} instead',
        )
    lists: dict[str, list[Any]] = {
        'all_started': bridge.on_started,
        'changed': bridge.on_settings,
        'extra_subscriptions': bridge.wire_needs,
    }
    for name, calls in lists.items():
        if name in old:
            calls.append(getattr(part, name))
    if 'plan_changed' in old or 'published' in old:
        part.take_world = _OldWorldHooks(part, part.take_world)


def latch(world: WorldTopics, messages: Mapping[str, Any]) -> None:
    """Publish what `Feature.latched` returns."""
    for name, message in messages.items():
        world.notes.append(
            f'feature {world.feature!r}: the next release does not call latched any more; call '
            'once(topic, message) in feeds or world_feeds instead'
        )
        kind = type(message)
        type_name = f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
        world.once(Topic(name, (type_name,), 'latched'), message)


class _OldWorldHooks:
    """Calls the hooks that take_world has replaced."""

    def __init__(self, part: Any, take_world: Any) -> None:
        self._part, self._take_world = part, take_world

    def __call__(self, plan: Any, handshake: Any) -> None:
        self._take_world(plan, handshake)
        for name, arguments in (('plan_changed', (plan,)), ('published', (plan, handshake))):
            hook = getattr(self._part, name, None)
            if callable(hook):
                hook(*arguments)
