# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One small fault for each of many checks, which is all that is tried on it: (check, fault)."""

import base64

from mutant import blocks
from mutant import on_reply
from mutant import on_request
from mutant import on_states
from narrow import accepts
from narrow import always_json
from narrow import any_session
from narrow import does_nothing
from narrow import expired_but_done
from narrow import first_camera
from narrow import foldered
from narrow import forgets
from narrow import hides_a_twist_controller
from narrow import noisy
from narrow import of_articulations
from narrow import of_entities
from narrow import of_state
from narrow import option_is_only_said
from narrow import other_model
from narrow import prefixed_sensors
from narrow import refuses
from narrow import replay_skips_frames
from narrow import set_mode_rewinds
from narrow import shifted
from narrow import steps
from narrow import with_option
from narrow import with_values
from narrow import without

from urlab_ros_bridge.conformance.checks.world.options import NEW

FAULTS = (
    ('encoding.msgpack_default', always_json),
    ('encoding.binary_is_bin', lambda: on_reply('hello', lambda _, r: r.update(
        mjb=base64.b64encode(r['mjb']).decode()))),
    ('encoding.json_on_request', lambda: forgets('hello', 'encoding')),
    ('encoding.any_number', lambda: refuses(lambda m: type(m.get('max_contacts')) is float)),
    ('error.unknown_fields', lambda: refuses(lambda m: 'of_a_later_version' in m)),
    ('session.pre_session', lambda: refuses(lambda m: m == {'op': 'meta'})),
    ('session.required', any_session),
    ('session.mismatch', lambda: accepts('session_expired')),
    ('session.expired_is_inert', expired_but_done),
    ('session.level_of_hello', lambda: forgets('hello', 'observations')),
    ('hello.urlab_version', lambda: with_values('hello', urlab_version='1.0')),
    ('hello.shm_session_dir', lambda: with_values('hello', shm_session_dir='URLabShm/live')),
    ('hello.articulations', lambda: of_articulations(lambda block: block.pop('actor_id'))),
    ('hello.controller', lambda: of_articulations(
        lambda block: block.get('controller', {'schema': {'kp': 0}})['schema'].pop('kp'))),
    ('hello.actuator_types', lambda: of_articulations(
        lambda block: block.update(actuator_types=dict.fromkeys(
            block['actuator_types'], 'servo')))),
    ('hello.original_names', lambda: of_articulations(
        lambda block: block['original_names'].pop('bodies'))),
    ('hello.prefixed_names', lambda: of_articulations(lambda block: block.update(prefix='who'))),
    ('hello.camera_topics', lambda: first_camera(lambda camera: camera.update(mode='rgb'))),
    ('hello.entities', lambda: on_reply(
        'hello', lambda _, r: [e.update(id=e['id'] + 1) for e in r['entities'].values()])),
    ('assets.fields', lambda: on_reply('hello', lambda _, r: r.pop('vfs_assets', None))),
    ('assets.bare_filenames', lambda: on_reply('hello', foldered)),
    ('assets.reload', lambda: on_reply('hello', other_model)),
    ('meta.entries', lambda: on_reply('meta', lambda _, r: r['ops'][0].pop('namespace'))),
    ('meta.reply_fields', lambda: without('set_paused', 'paused')),
    ('observe.standard', lambda: on_states(lambda block: block.pop('act', None))),
    ('observe.articulations', lambda: on_reply(
        'step', lambda _, r: r['per_articulation'].popitem())),
    ('observe.local_names', lambda: on_states(prefixed_sensors)),
    ('observe.sensors', lambda: on_states(
        lambda block: [value.__setitem__(0, value[0] + 0.5)
                       for value in block.get('sensors', {}).values()])),
    ('observe.entities', lambda: of_entities(lambda block: block.pop('xquat', None))),
    ('stamp.sim_time', lambda: on_reply(
        'step', lambda _, r: r['sim_time'].update(nsec=r['sim_time']['nsec'] ^ 4096))),
    ('stamp.moves_with_steps', lambda: on_reply(
        'step', lambda _, r: r.update(time=1.5 * r['time']))),
    ('step.direct.default', lambda: steps(
        lambda m: m.update(n_steps=max(m.get('n_steps') or 0, 2)))),
    ('step.direct.split', lambda: steps(
        lambda m: m.update(n_steps=9) if m.get('n_steps') == 10 else None)),
    ('step.direct.deterministic', noisy),
    ('step.direct.sticky', lambda: steps(
        lambda m: m.setdefault('per_articulation', {}).setdefault('arm', {}).setdefault(
            'ctrl', [0.0] * 50))),
    ('step.direct.controller', lambda: on_states(shifted('ctrl'))),
    ('step.puppet.writes', lambda: steps(lambda m: m.pop('qvel', None))),
    ('step.divergence', lambda: on_reply('step', lambda _, r: r.pop('divergence', None))),
    ('step.while_live', lambda: steps(lambda m: m.pop('while_live', None))),
    ('step.puppet.by_joint', lambda: steps(lambda m: m.pop('qvel_map', None))),
    ('reset.default', lambda: of_state('reset', shifted('qpos'))),
    ('reset.step_counter', lambda: with_values('reset', step=3)),
    ('reset.seed', lambda: on_reply(
        'reset', lambda m, r: 'seed' in m and [shifted('qpos')(b) for b in blocks(r)])),
    ('forward.time', lambda: on_reply('forward', lambda _, r: r.update(time=r['time'] + 0.002))),
    ('forward.derives', lambda: of_state('forward', lambda block: [
        body['xpos'].__setitem__(0, 9.0) for body in block.get('bodies', {}).values()])),
    ('set_mode.bad_mode', lambda: accepts('bad_mode')),
    ('set_mode.keeps_state', set_mode_rewinds),
    ('set_sim_speed.reply', lambda: with_values('set_sim_speed', percent=100.0)),
    ('set_control_source.bad_value', lambda: accepts('bad_value')),
    ('set_control_source.unknown', lambda: accepts('unknown_articulation')),
    ('set_twist.reply', lambda: without('set_twist', 'angular')),
    ('set_mode.auto', lambda: on_request(
        'set_mode', lambda m: m.get('mode') == 'auto' and m.update(mode='live'))),
    ('set_twist.every', lambda: on_states(
        lambda block: block.get('twist', {'linear': [0]})['linear'].__setitem__(0, 0.0))),
    ('set_twist.no_twist_controller', hides_a_twist_controller),
    ('set_twist.unknown', lambda: accepts('unknown_articulation')),
    ('configure_controller.no_controller', lambda: accepts('no_controller')),
    ('configure_controller.unknown', lambda: accepts('unknown_articulation')),
    ('configure_controller.schema', lambda: accepts('controller_schema_violation')),
    ('set_qpos.full', lambda: on_reply('set_qpos', lambda _, r: shifted('qpos')(r))),
    ('set_qpos.by_actor_name', lambda: forgets('set_qpos', 'target_by')),
    ('set_qpos.no_joints', lambda: accepts('no_joints')),
    ('set_qpos.unknown', lambda: accepts('unknown_articulation')),
    ('mocap.one_of_both', lambda: on_request(
        'set_mocap_pose', lambda m: 'quat' in m and m.setdefault('pos', [0.0] * 3))),
    ('mocap.unknown_body', lambda: accepts('unknown_body')),
    ('mocap.moves_body', lambda: does_nothing('set_mocap_pose')),
    ('contacts.fields', lambda: on_reply(
        'get_contacts', lambda _, r: [contact.pop('force') for contact in r['contacts']])),
    *((f'options.{name}', lambda name=name: with_option(name, lambda given: given.pop(name)))
      for name in NEW if name != 'num_worker_threads'),
    ('options.num_worker_threads', lambda: without(
        'set_sim_options', 'options', 'num_worker_threads')),
    ('options.read', lambda: without('set_sim_options', 'options', 'wind')),
    ('options.round_trip', lambda: with_option(
        'wind', lambda given: given.update(density=given.get('density', 0.0) + 1.0))),
    ('options.words', lambda: on_request(
        'set_sim_options', lambda m: m['options'].get('solver') == 'pgs' and m['options'].pop(
            'solver'))),
    ('options.timestep_acts', lambda: option_is_only_said('timestep')),
    ('options.gravity_acts', lambda: option_is_only_said('gravity')),
    ('recording.already_active', lambda: accepts('recording_already_active')),
    ('recording.not_active', lambda: accepts('recording_not_active')),
    ('recording.clear', lambda: does_nothing('recording_clear')),
    ('recording.window', lambda: forgets('recording_start', 'max_duration_s', 'max_duration_s')),
    ('recording.path_not_writable', lambda: accepts('path_not_writable')),
    ('replay.path_not_readable', lambda: accepts('path_not_readable')),
    ('replay.requires_stepped', lambda: accepts('replay_requires_stepped')),
    ('replay.start', lambda: with_values('replay_start', total_frames=1)),
    ('replay.plays', replay_skips_frames),
)  # fmt: skip
