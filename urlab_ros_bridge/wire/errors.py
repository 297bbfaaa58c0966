# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the wire, and the table of error codes that travel on the wire.

Every exception of the project derives from `UrlabError`, so one ``except`` at the edge of a
program is enough.  The codes are those of the Protocol Reference, section "Errors"; the few that
the page does not list carry a note where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable


class UrlabError(Exception):
    """Base of every exception that this project raises on purpose."""


class WireError(UrlabError, ValueError):
    """Bytes or fields that do not follow the protocol."""


class FrameTooLarge(WireError):
    """A frame is larger than the receiver accepts; raised before anything is allocated."""

    def __init__(self, size: int, limit: int, what: str = 'frame') -> None:
        super().__init__(f'{what} of {size} bytes is larger than the limit of {limit} bytes')


class MalformedFrame(WireError):
    """A frame is neither valid msgpack nor valid JSON, or its top level is not a map."""


class MalformedRow(WireError):
    """The payload of a PUB row does not have the length that its layout demands."""

    def __init__(self, topic: str, size: int, expected: str) -> None:
        super().__init__(f'row {topic!r} has {size} bytes, expected {expected}')


class UnknownTopic(WireError):
    """A PUB topic follows none of the known patterns."""

    def __init__(self, topic: object) -> None:
        super().__init__(
            f'topic {topic!r} is not one of: {{prefix}}/joint|sensor|base_state/{{name}}, '
            '{prefix}/twist|actions|effort, scene/{entity}/xpos|xquat|qpos|qvel, '
            'state/full, sim_time'
        )


class MalformedRegion(WireError):
    """A shared-memory file is not a region, is truncated, or has an invalid header."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f'{path} is not a valid shared-memory region: {reason}')


class RegionUnavailable(UrlabError):
    """A shared-memory file cannot be opened or made; the message gives the reason."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f'shared memory {path} is not available: {reason}')


class UnknownName(UrlabError, KeyError):
    """
    A name does not resolve.

    The message quotes the name and lists the valid ones, `kind` is what it should have named.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.valid = tuple(valid)
        super().__init__(f'unknown {kind} {name!r}; {list_names(kind, self.valid)}')

    def __str__(self) -> str:
        return str(self.args[0])


def list_names(kind: str, valid: Iterable[str], limit: int = 24) -> str:
    """
    Return "available <kind>s: a, b, c" for an error message, cut after `limit` names.

    >>> list_names('body', ['base', 'arm'])
    'available: base, arm'
    >>> list_names('body', [])
    'there is no body'
    """
    names = list(valid)
    if not names:
        return f'there is no {kind}'
    more = f' and {len(names) - limit} more' if len(names) > limit else ''
    return 'available: ' + ', '.join(names[:limit]) + more


def count_of(number: int, noun: str) -> str:
    """
    Return a count with its noun, whose plural ends in s.

    >>> count_of(1, 'file'), count_of(0, 'file'), count_of(12, 'message')
    ('1 file', '0 files', '12 messages')
    """
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


# Code -> meaning.  The order is the page's; the codes after the blank line are not on the page.
ERROR_CODES: dict[str, str] = {
    'bad_request': 'Frame failed to parse as JSON or msgpack.',
    'missing_op': 'Request had no op field.',
    'unknown_op': 'No handler registered for the op.',
    'not_in_editor': 'Editor-only op invoked with no registered handler for the current state.',
    'no_active_manager': 'A manager-required op was issued with no active manager.',
    'session_expired': 'session_id does not match an active session.',
    'missing_field': 'A declared required field was absent.',
    'not_ready': 'The physics engine, model or data was not initialised.',
    'bad_mode': 'set_mode got an unknown mode string.',
    'bad_value': 'A field had an unknown enum value, the wrong type, or a number out of range.',
    'unknown_articulation': 'The named articulation does not resolve.',
    'unknown_body': 'The body name does not resolve.',
    'not_mocap_body': 'The target body is not flagged as a mocap body.',
    'unknown_keyframe': 'The keyframe name of a reset did not resolve.',
    'dim_mismatch': 'The length of a vector does not match the model.',
    'no_joints': 'The set_qpos target articulation has no joints.',
    'no_twist_controller': 'The set_twist target has no twist controller.',
    'no_controller': 'The configure_controller target has no controller.',
    'controller_schema_violation': "params failed the controller's schema.",
    'mode_locked_by_server': 'set_mode was issued while the server pins the step mode.',
    'recording_already_active': 'recording_start was issued while a recording is active.',
    'recording_not_active': 'recording_stop or recording_save was issued without a recording.',
    'path_not_writable': 'The recording_save target is not writable.',
    'path_not_readable': 'The replay_load source is not readable.',
    'replay_session_not_found': 'replay_set_active or replay_start named an unloaded session.',
    'replay_requires_stepped': 'replay_start was issued in live mode.',
    'step_timeout': 'A direct-mode step did not complete within 5 s.',
    'shutting_down': 'The server began to shut down during the op.',
    # Not on the page: the stock plugin's transports send or understand these.
    'wrong_transport': 'The op is not served on this transport; use ZMQ.',
    'reply_too_large': 'The reply does not fit the shared-memory region; repeat over ZMQ.',
    # Since July 2026: claim_control.
    'control_claimed': 'Another owner has claimed the articulation.',
    'not_control_owner': 'Another owner has claimed the articulation that the request commands.',
    # Ops of the editor (the page: "their own per-op failure codes"); the stock plugin's names.
    'unknown_actor': 'The target is not an actor of the level.',
    'import_failed': 'The file of import_xml cannot be read, or does not compile.',
    'create_level_failed': 'The level exists, or cannot be written.',
    'load_level_failed': 'The level does not exist, cannot be read, or is invalid.',
    'save_level_failed': 'The level has no name yet, or cannot be written.',
    'destroy_asset_failed': 'The level cannot be deleted.',
    'spawn_failed': 'The blueprint cannot be used this way, or the actor_id is taken.',
    'duplicate_failed': 'The new_actor_id is taken, or the target cannot be copied.',
    'destroy_failed': 'The target cannot be destroyed: it belongs to the scene file.',
    'set_actor_transform_failed': 'The target cannot be moved.',
    'actor_hierarchy_failed': 'The target does not compile.',
    'get_actor_bounds_failed': 'The target does not compile.',
    'add_quick_convert_failed': 'The target is not an object, or does not compile as one.',
    'remove_quick_convert_failed': 'The target is not a converted object.',
    'invalid_count': 'A grid has no cells.',
    'too_many_cells': 'A grid has more than 1024 cells.',
    'invalid_mode': 'set_viewport_mode got an unknown mode string.',
    'no_bounds': 'The target has no bounded geometry.',
    'no_viewport': 'There is no viewport with a movable camera.',
    # Extensions: spawn_entity.
    'name_taken': 'The name is in use in this world.',
    'name_invalid': 'The name is not allowed in this world.',
    'missing_assets': 'A file that the model names is missing, or may not be read.',
    # An extension: step_while_live.
    'not_live': 'A step that is only for live mode arrived in another mode; nothing was done.',
    # An extension: wall_seen.
    'stale_command': 'The command waited for longer than its wall_timeout, or the world was reset '
    'since it was computed.',
    # An extension: e_stop.
    'e_stop_engaged': 'The e-stop is engaged: commands that move something are refused.',
    # An extension: the op failed inside the server.  The server continues.
    'internal_error': 'The server failed while handling the op; its log gives the cause.',
}
