# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The dialect of the plugin since v0.6, translated from and to that of the protocol page.

Everything else of this package speaks the page's dialect.  In v0.6

- the modes are freerun, stepped and statepushed;
- hello_ok has no `articulations`; `entities` is a list of robots and other bodies, each with its
  block and the fields of its free base;
- replies and snapshots have `arts`, of robots and entities, and all but those of reset and forward
  `scene`; requests name entities as robots.

All functions return new maps, or the given one where there is nothing to translate.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

PAGE, V06 = 'page', '0.6'
DIALECTS = (PAGE, V06)

_MODES = {'live': 'freerun', 'direct': 'stepped', 'puppet': 'statepushed'}
_PAGE_MODES = {new: old for old, new in _MODES.items()}
_WITHOUT_SCENE = ('reset_ok', 'forward_ok')
_FREE_BASE = ('id', 'has_free_base', 'free_joint', 'free_joint_id', 'qpos_offset', 'qvel_offset')
# What the block of an entity that is no robot has in common with one that is.
_NOTHING_DRIVEN: dict[str, Any] = {
    'actuator_types': {},
    'camera_topics': {},
    'original_names': {'actuators': {}, 'joints': {}, 'sensors': {}, 'bodies': {}},
}
# Of the block of an entity that is a robot; others have empty ones, or none.
_OF_ROBOTS = ('actuator_types', 'camera_topics', 'controller', 'twist_controller')

Message = dict[str, Any]


def is_v06(hello_ok: Message) -> bool:
    """Return whether a handshake is of v0.6."""
    return isinstance(hello_ok.get('entities'), list)


# -- for clients of a v0.6 server --


def handshake_from_v06(reply: Message) -> Message:
    """
    Return a v0.6 handshake as the page has it.

    Entities that are not maps with a name stay in `entities`, where reading them fails by name.
    """
    robots, others = [], {}
    for item in reply['entities']:
        name = item.get('prefix') or item.get('actor_name') if isinstance(item, dict) else None
        if not isinstance(name, str):
            return reply
        if any(item.get(key) for key in _OF_ROBOTS):
            robots.append({**item, 'prefix': name})
        else:
            others[name] = {key: item[key] for key in _FREE_BASE if key in item}
    return {**reply, 'articulations': robots, 'entities': others}


def request_to_v06(message: Message) -> Message:
    """Return a request of the page as a v0.6 server understands it."""
    mode = message.get('mode')
    if message['op'] not in ('set_mode', 'step') or not isinstance(mode, str):
        return message
    # "auto" is no mode there: without a client the server runs freely.
    return {**message, 'mode': 'freerun' if mode == 'auto' else _MODES.get(mode, mode)}


def reply_from_v06(reply: Message, robots: Collection[str]) -> Message:
    """
    Return a v0.6 reply or snapshot as the page has it; a handshake inside stays as it is.

    :param robots: prefixes of the handshake; other `arts` are entities.
    """
    out = dict(reply)
    arts, scene = out.pop('arts', None), out.pop('scene', None)
    if isinstance(arts, dict):
        out['per_articulation'] = {key: arts[key] for key in arts if key in robots}
        blocks = scene if isinstance(scene, dict) else {}
        others = {key: block for key, block in arts.items() if key not in robots}
        scene = {**blocks, **{key: _merged(others[key], blocks.get(key)) for key in others}}
    if scene is not None:
        out['entities'] = scene
    for key in ('previous_mode', 'current_mode', 'mode'):
        if isinstance(out.get(key), str):
            out[key] = _PAGE_MODES.get(out[key], out[key])
    return out


def _merged(one: Any, other: Any) -> Any:
    """Return two blocks as one; what is no map stays for the reader to refuse."""
    return {**one, **other} if isinstance(one, dict) and isinstance(other, dict) else one


# -- for servers of v0.6 clients --


def request_from_v06(message: Message) -> Message:
    """Return a request of a v0.6 client as the page has it; the page's own modes stay."""
    mode = message.get('mode')
    if message.get('op') not in ('set_mode', 'step') or not isinstance(mode, str):
        return message
    return {**message, 'mode': _PAGE_MODES.get(mode.lower(), mode)}


def handshake_to_v06(reply: Message, host: str) -> Message:
    """
    Return a handshake as a v0.6 client reads it.

    :param host: name of the machine, by which a client knows whether it shares its memory.
    """
    out = dict(reply)
    robots = out.pop('articulations', [])
    entities = [{'actor_name': robot['prefix'], **robot} for robot in robots]
    for name, block in (out.get('entities') or {}).items():
        entities.append(
            {'prefix': name, 'actor_name': name, 'actor_id': name, **_NOTHING_DRIVEN, **block}
        )
    out['entities'] = entities
    out['instance'] = {'host': host}
    return out


def reply_to_v06(reply: Message, host: str) -> Message:
    """Return a reply or snapshot of the page as a v0.6 client reads it."""
    if reply.get('op') == 'hello_ok':
        return handshake_to_v06(reply, host)
    out = dict(reply)
    for old, new in (('per_articulation', 'arts'), ('entities', 'scene')):
        if isinstance(out.get(old), dict):
            out[new] = out.pop(old)
    if out.get('op') in _WITHOUT_SCENE:
        out.pop('scene', None)
    for key in ('previous_mode', 'current_mode', 'mode'):
        if isinstance(out.get(key), str):
            out[key] = _MODES.get(out[key], out[key])
    inner = out.get('handshake_payload')
    if isinstance(inner, dict):
        out['handshake_payload'] = handshake_to_v06(inner, host)
    return out
