# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501  (a table reads best with one row a line)
"""
The op catalogue: every request that the protocol knows, as one table.

Sources: Protocol Reference (names, categories, fields) and the stock dispatcher's registry (reply
fields, namespaces).  `meta` replies, `missing_field` checks, the client's methods and the docs
page all come from this table; a server adds handlers, never ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MANAGER_REQUIRED = 'manager_required'
EDITOR_ONLY = 'editor_only'
NO_MANAGER = 'no_manager'


@dataclass(frozen=True, slots=True)
class Op:
    """
    One op of the protocol.

    :ivar category: ``manager_required``, ``editor_only`` or ``no_manager``.
    :ivar required: fields whose absence (or null) answers ``missing_field``.
    :ivar optional: further request fields, for documentation.
    :ivar reply: reply fields as ``name:type``, a trailing ``?`` marks one that may be absent.
    :ivar extension: true when the op is ours and a stock server does not know it.
    :ivar since: version of the plugin that brought it, '' for the first ones.
    """

    name: str
    category: str
    namespace: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    extension: bool = False
    since: str = ''

    def meta(self) -> dict[str, Any]:
        """Return the op's entry of a `meta` reply; empty field lists are left out."""
        entry: dict[str, Any] = {
            'name': self.name,
            'category': self.category,
            'namespace': self.namespace,
        }
        if self.required:
            entry['required_fields'] = list(self.required)
        if self.reply:
            entry['reply_fields'] = ['op:string', *self.reply]
        return entry


def _ops(
    category: str, namespace: str, rows: str, *, extension: bool = False, since: str = ''
) -> list[Op]:
    """Parse rows of ``name | required | optional | reply``, fields separated by blanks."""
    ops = []
    for row in rows.strip().splitlines():
        name, required, optional, reply = (part.split() for part in row.split('|'))
        fields = (tuple(required), tuple(optional), tuple(reply))
        ops.append(Op(name[0], category, namespace, *fields, extension, since))
    return ops


_STEP = _ops(
    MANAGER_REQUIRED,
    '',
    """
step  | | n_steps observations include_cameras per_articulation time qpos qvel ctrl qpos_map qvel_map while_paused while_live topics | time:float step:int per_articulation:object sim_time:object? wall_time:object? frame_id:int? divergence:object? e_stop:bool?
reset | | keyframe_name seed per_articulation_qpos keep_time keep_state articulation | time:float step:int
""",
)

_RUNTIME = _ops(
    MANAGER_REQUIRED,
    'runtime',
    """
forward              | | observations | time:float step:int per_articulation:object
set_mode             | | mode | previous_mode:string current_mode:string
set_paused           | paused | | paused:bool
configure_controller | articulation params | | articulation:string params:object
set_sim_options      | | options | options:object
set_sim_speed        | percent | | percent:float
set_control_source   | | source articulation | source:string scope:string articulation:string?
set_twist            | | articulation linear angular timeout wall_timeout wall_seen resets | articulation:string linear:array angular:array
set_qpos             | target qpos | target_by | target:string actor_id:string? actor_name:string? qpos:array free_base_shortcut:bool
set_mocap_pose       | body | pos quat | body:string pos:array quat:array
read_mocap_pose      | body | | body:string pos:array quat:array
get_contacts         | | max_contacts filter | n_contacts:int truncated:bool contacts:array
list_keyframes       | | | keyframes:array
""",
)

# Since July 2026; older servers do not know them.
_JULY = [
    *_ops(
        MANAGER_REQUIRED,
        'runtime',
        """
set_camera_streaming | cameras | | cameras:object
set_camera_delay     | cameras | | cameras:object
claim_control        | articulation | control_owner ttl_s force | articulation:string owner:string ttl_s:float
release_control      | articulation | control_owner | articulation:string
""",
        since='July 2026',
    ),
    *_ops(
        EDITOR_ONLY,
        'scene',
        """
remove_actor        | target | target_by | target:string requires_pie_restart:bool
""",
        since='July 2026',
    ),
]

_RECORDING = _ops(
    MANAGER_REQUIRED,
    'recording',
    """
recording_start | | name max_duration_s | name:string max_duration_s:float
recording_stop  | | | name:string frame_count:int sim_duration_s:float
recording_save  | | path overwrite | absolute_path:string
recording_clear | | |
""",
)

_REPLAY = _ops(
    MANAGER_REQUIRED,
    'replay',
    """
replay_load          | | path | name:string total_frames:int?
replay_list_sessions | | | sessions:array
replay_set_active    | | name |
replay_start         | | | active_session:string total_frames:int
replay_stop          | | |
""",
)

_SCENE = _ops(
    EDITOR_ONLY,
    'scene',
    """
import_xml          | path | force_reimport | blueprint_class_path:string blueprint_short_name:string imported_now:bool
create_level        | name | force_overwrite scene | level_path:string
ensure_manager      | | | actor_name:string actor_path:string was_existing:bool
destroy_asset       | asset_path | | asset_path:string was_found:bool
current_level       | | | level_path:string
snapshot            | | | actors:array in_pie:bool level_path:string
duplicate_actor     | target new_actor_id | target_by location | actor_id:string actor_name:string actor_path:string blueprint_class_path:string
actor_hierarchy     | target | target_by | root:object
load_level          | level_path | | level_path:string
save_level          | | name force_overwrite | level_path:string
spawn_actor         | blueprint | actor_id location rotation_quat rotation_euler scale physics | actor_id:string actor_name:string actor_path:string blueprint_class_path:string location:array rotation_quat:array was_existing:bool requires_pie_restart:bool
spawn_grid          | blueprint base_actor_id count_x count_y | spacing origin rotation_quat rotation_euler scale physics | count:int blueprint_class_path:string actors:array requires_pie_restart:bool
spawn_light         | | kind actor_id location rotation_quat rotation_euler intensity color | actor_id:string actor_name:string actor_path:string kind:string intensity:float color:array location:array requires_pie_restart:bool
destroy_actor       | target | target_by | requires_pie_restart:bool
set_actor_transform | target | target_by location rotation_quat rotation_euler | target:string actor_name:string requires_pie_restart:bool
""",
)

_SIM = _ops(
    EDITOR_ONLY,
    'sim',
    """
pie_status | | | state:string compile_error:string sim_time:float?
begin_pie  | | level_path timeout_s | state:string compile_error:string handshake_payload:object?
stop_pie   | | |
""",
)

_OUTLINER = _ops(
    EDITOR_ONLY,
    'outliner',
    """
find_actors          | | class_filter tag name_prefix in_pie | actors:array in_pie:bool
get_actor_bounds     | target | target_by components_only in_pie | actor_name:string min:array max:array center:array extents:array
list_actors          | | | actors:array in_pie:bool
select_actor         | target | target_by | target:string
add_quick_convert    | target | target_by static complex_mesh coacd_threshold driven_by_unreal friction | target:string
remove_quick_convert | target | target_by | target:string
list_blueprints      | | | blueprints:array
""",
)

_DEBUG = _ops(
    EDITOR_ONLY,
    'debug',
    """
draw_marker      | location color | ttl label tag |
draw_line        | from to color | ttl thickness tag |
draw_box         | center half_extents color | rotation_quat rotation_euler ttl tag |
draw_axes        | location | rotation_quat rotation_euler scale ttl tag |
draw_arrow       | from to color | ttl thickness arrow_size tag |
clear_markers    | | tag |
set_overlay_text | text | anchor |
""",
)

_VIEWPORT = _ops(
    EDITOR_ONLY,
    'viewport',
    """
set_camera        | location | rotation_quat rotation_euler fov | location:array rotation_quat:array rotation_euler:array fov:float
get_camera        | | | location:array rotation_quat:array rotation_euler:array fov:float
frame_actor       | target | target_by | location:array rotation_quat:array rotation_euler:array fov:float
set_viewport_mode | mode | | mode:string
track_actor       | target | target_by offset smoothing | tracked_actor_path:string
untrack           | | | was_tracking:bool
""",
)

_EXTENSIONS = [
    *_ops(
        NO_MANAGER,
        'debug',
        """
read_markers | | | markers:array text:string anchor:string camera:object
""",
        extension=True,
    ),
    *_ops(
        NO_MANAGER,
        'runtime',
        """
status | | | mode:string paused:bool speed:float real_time_factor:float tick_rate:float sim_time:object sessions:array cameras:int world_revision:int recording:object control_stream:object fault:string? divergence:object? e_stop:bool navigation_targets:array?
e_stop | engaged | | engaged:bool
""",
        extension=True,
    ),
    *_ops(
        MANAGER_REQUIRED,
        'recording',
        """
recording_list | | | recordings:array
recording_read | path | offset | text:string bytes:int
""",
        extension=True,
    ),
    *_ops(
        MANAGER_REQUIRED,
        'runtime',
        """
randomize        | | seed items restore | seed:int restored:bool items:object
apply_wrench     | | articulation body force torque frame duration name wall_timeout wall_seen | body:string until:float
pull_body        | body | articulation point target duration name wall_timeout wall_seen | body:string until:float
set_setpoints    | articulation values | timeout wall_timeout wall_seen resets | articulation:string count:int
set_navigation_target | articulation kind x y yaw | | id:int
get_entities     | | entities bounds | entities:array sim_time:object
set_entity_state | entity | pos quat linear angular | name:string kind:string movable:bool spawned:bool pos:array quat:array linear:array angular:array sim_time:object
spawn_entity     | | name allow_renaming xml file pos quat kind | name:string kind:string movable:bool spawned:bool pos:array quat:array linear:array angular:array sim_time:object world_revision:int handshake_payload:object
delete_entity    | entity | | entity:string world_revision:int handshake_payload:object
""",
        extension=True,
    ),
]

# hello and meta carry the session; the stock registry does not list them.
PRE_SESSION_OPS = ('hello', 'meta')

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        *_STEP,
        *_RUNTIME,
        *_RECORDING,
        *_REPLAY,
        *_SCENE,
        *_SIM,
        *_OUTLINER,
        *_DEBUG,
        *_VIEWPORT,
        *_JULY,
        *_EXTENSIONS,
    )
}

MODES = ('live', 'direct', 'puppet')
MAX_STEPS = 10_000_000  # of one request: a mistyped number must not keep a server for days
SPEED_PERCENT = (5.0, 100.0)  # of real time; Protocol Reference, "set_sim_speed"
# set_mode takes it too: live until the next plain handshake, which makes it direct (Networking page).
AUTO = 'auto'
# What set_mode accepts: stock servers take 'streaming' for live and any case.
MODE_ALIASES = {'streaming': 'live', **{mode: mode for mode in MODES}}
# What state/full holds, as a level of replies (extension `snapshot_level`).
SNAPSHOT = 'snapshot'
OBSERVATION_LEVELS = ('minimal', 'standard', 'full', SNAPSHOT)
CAMERA_MODES = ('real', 'depth', 'semantic', 'instance')
CONTROL_SOURCES = ('zmq', 'ui')
# Kinds of set_navigation_target: where a robot is to go, and where it is.
GOAL, INITIAL_POSE = NAVIGATION_KINDS = ('goal', 'initial_pose')
# `status` reports a navigation target for this long (s), so that every client that polls it finds it.
NAVIGATION_SECONDS = 5.0

# Default ports (Networking page, "ZMQ"; control and info streams: stock plugin).
STATE_PORT = 5555
CONTROL_PORT = 5556
INFO_PORT = 5557
CAMERA_PORT = 5558
RPC_PORT = 5559
