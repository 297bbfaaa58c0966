# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files that clients of the editor name, and what those name: confined, and within limits."""

import os

import pytest

SECRET = '<mujoco><worldbody><body name="secret"><geom size="1"/></body></worldbody></mujoco>'


@pytest.fixture
def outside(desk, tmp_path):
    """Return a folder outside of the data folder, with a model and a mesh."""
    folder = tmp_path / 'outside'
    folder.mkdir()
    (folder / 'o.xml').write_text(SECRET)
    (folder / 'o.obj').write_bytes((desk.folder / 'pair.obj').read_bytes())
    os.symlink(folder, desk.folder / 'away')
    return folder


def test_no_op_accepts_a_hostile_file(desk, outside):
    """One of a kind: client_models/test_document.py has all of them."""
    desk.write('bad.xml', f'<mujoco><include file="{outside}/o.xml"/></mujoco>')
    desk.write('scene.yaml', f'scene: {desk.folder}/bad.xml\n')
    desk.write('robot.yaml', f'articulations: [{{prefix: r, model: {desk.folder}/bad.xml}}]\n')
    level = desk.editor.level
    for op, code, fields in (
        ('import_xml', 'import_failed', {'path': 'bad.xml'}),
        ('import_xml', 'import_failed', {'path': 'robot.yaml'}),
        ('create_level', 'create_level_failed', {'name': 'l', 'scene': 'bad.xml'}),
        ('load_level', 'load_level_failed', {'level_path': '/Game/bad.xml'}),
    ):
        failed = desk.refusal(op, **fields)
        assert failed.code == code and 'secret' not in failed.message
    assert desk.editor.level is level
    # A level may name any file; compiling it is refused.
    for name in ('scene.yaml', 'robot.yaml'):
        desk.ask('load_level', level_path=f'/Game/{name}')
        assert desk.ask('begin_pie')['state'] == 'compile_failed'
    # And the next one is fine.
    path = desk.ask('import_xml', path='arm.xml')['blueprint_short_name']
    desk.ask('create_level', name='good')
    desk.ask('spawn_actor', blueprint=path)
    desk.play()


@pytest.mark.parametrize('text', ['objects: [{{name: m, shape: mesh, file: {}}}]', 'scene: {}'])
def test_a_sidecar_does_not_reveal_whether_a_file_elsewhere_exists(desk, outside, text):
    messages = set()
    for path in (f'{outside}/o.xml', f'{outside}/o.obj', f'{outside}/no_such_file.xml'):
        desk.write('out.yaml', text.format(path))
        error = desk.refusal('load_level', level_path='/Game/out.yaml')
        assert error.code == 'load_level_failed'
        messages.add(error.message.replace(path, ''))
    assert len(messages) == 1


def test_the_world_of_the_command_line_may_be_anywhere(desk, outside):
    (outside / 'arm.xml').write_bytes((desk.folder / 'arm.xml').read_bytes())
    (outside / 'own.yaml').write_text('articulations: [{prefix: arm, model: arm.xml}]\n')
    desk.editor.open_and_play(outside / 'own.yaml')
    desk.ask('stop_pie')
    # Copies of it, too; but nothing else in that folder.
    desk.ask('duplicate_actor', target='arm', new_actor_id='arm2')
    desk.play()
    assert len(desk.world.articulations) == 2
    assert desk.code('import_xml', path=f'{outside}/o.xml') == 'import_failed'
