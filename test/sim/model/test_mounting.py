# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A scanner that a sidecar mounts is the one that the model could have had."""

import numpy as np
import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.mounting import MAX_RAYS
from urlab_ros_bridge.sim.model.world import load_world

SCENE = """
<mujoco><worldbody><geom type="plane" size="9 9 1"/>
  <geom type="box" pos="2 0.3 0.5" size="0.1 1 0.5"/>
  <geom type="box" pos="-1 -1 0.5" size="0.1 1 0.5" euler="0 0 30"/></worldbody></mujoco>"""
ROBOT = """
<mujoco><worldbody><body name="base" pos="0 0 0.2"><freejoint/>
  <geom type="box" size="0.2 0.1 0.1"/>{first}
  <body name="head" pos="0.2 0 0.2"><joint name="neck" axis="0 0 1"/>
    <geom type="box" size="0.1 0.1 0.1"/>{second}</body></body></worldbody>
  <sensor><jointpos name="neck" joint="neck"/>{sensors}</sensor></mujoco>"""
SITE = '<site name="{}" pos="0.1 0 0.3" quat="0.96592583 0 0 0.25881905"/>'
USER = '<user name="{}" dim="90" objtype="site" objname="{}" needstage="pos"/>'
RANGES = 'angle_min: -2, angle_max: 2, range_max: 5'
MOUNT = 'rays: 90, pose: {pos: [0.1, 0, 0.3], quat: [0.96592583, 0, 0, 0.25881905]}'


@pytest.fixture
def written(tmp_path):
    """Return a function: lidars of the sidecar, what the model has -> sidecar."""

    def write(lidars, first='', second='', sensors=''):
        robot = ROBOT.format(first=first, second=second, sensors=sensors)
        sidecar = f'articulations: [{{prefix: bot, model: bot.xml, lidars: {{{lidars}}}}}]'
        for name, text in (('hall.xml', SCENE), ('bot.xml', robot), ('hall.yaml', sidecar)):
            (tmp_path / name).write_text(text)
        return tmp_path / 'hall.yaml'

    return write


@pytest.mark.parametrize(('body', 'place'), [('', 'first'), ('body: head, ', 'second')])
def test_a_mounted_scanner_equals_one_written_in_the_model(rig, written, body, place):
    made = rig(model=written(f'scan: {{{body}{MOUNT}, {RANGES}}}'))
    scene = {place: SITE.format('scan'), 'sensors': USER.format('scan', 'scan')}
    twin = rig(model=written(f'scan: {{{RANGES}}}', **scene))
    for each in (made, twin):
        each.ask('set_mode', mode='direct')
        each.ask('step', n_steps=150)
    np.testing.assert_array_equal(made.data.sensordata, twin.data.sensordata)
    ranges = made.data.sensor('bot_scan').data
    assert np.count_nonzero(ranges > 0) > 20 and np.count_nonzero(ranges < 0) > 5
    assert made.data.sensor('bot_neck').data == made.data.joint('bot_neck').qpos
    assert made.model.body_mass.sum() == twin.model.body_mass.sum()
    found = [each.ask('hello', shared=True)['articulations'][0]['lidars'] for each in (made, twin)]
    assert found[0] == found[1] and found[0]['scan']['site'] == 'scan'


@pytest.mark.parametrize('name', ['scan', 'neck', 'mast'])
def test_a_lidar_that_does_not_fit_the_model_is_refused(written, name):
    """There is no such body, but a sensor or a site of that name."""
    body = 'body: haed, ' if name == 'scan' else ''
    path = written(f'{name}: {{{body}rays: 9, {RANGES}}}', first='<site name="mast"/>')
    with pytest.raises(WorldError, match=rf'lidars\.{name}'):
        load_world(ServerConfig(model=path))


def test_rays_are_limited_for_a_world_as_a_whole(written):
    count = MAX_RAYS // 10_000
    lidars = ', '.join(f's{i}: {{rays: 10000, {RANGES}}}' for i in range(count + 1))
    with pytest.raises(WorldError, match=f'{MAX_RAYS + 10_000} .*{MAX_RAYS}'):
        load_world(ServerConfig(model=written(lidars)))
