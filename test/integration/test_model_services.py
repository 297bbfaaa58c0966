# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services on poses, the model and options, with the real programs."""

import pytest

pytestmark = pytest.mark.ros
srv = pytest.importorskip('urlab_msgs.srv')
msg = pytest.importorskip('urlab_msgs.msg')

SCENE = """
<mujoco><worldbody>
  <geom name="ground" type="plane" size="5 5 0.1"/>
  <body name="hand" mocap="true" pos="0 0 2"><geom size="0.1" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>
"""
ROBOT = """
<mujoco><worldbody><body name="base_link" pos="0 0 0.2"><freejoint name="root"/>
  <geom name="box" type="box" size="0.2 0.2 0.2" mass="5"/>
  <body name="arm" pos="0 0 0.3"><joint name="shoulder" axis="0 1 0" armature="0.1"/>
    <geom size="0.05" mass="0.2"/></body></body></worldbody>
  <actuator><motor name="shoulder" joint="shoulder"/></actuator>
  <keyframe><key name="high" qpos="0 0 1 1 0 0 0 0.5"/></keyframe></mujoco>
"""
SIDECAR = """
scene: scene.xml
articulations:
  - {prefix: bot, actor_id: robot_0, model: robot.xml, controller: {kind: pd, kp: {shoulder: 7}}}
"""


@pytest.fixture(scope='module')
def running(lasting_simulation, tmp_path_factory):
    """Return a function that calls a service by its type: fields -> response."""
    folder = tmp_path_factory.mktemp('world')
    (folder / 'scene.xml').write_text(SCENE)
    (folder / 'robot.xml').write_text(ROBOT)
    (folder / 'world.yaml').write_text(SIDECAR)
    # Options are tried in another process, which may take long on a busy machine.
    _, _, listener = lasting_simulation('--model', folder / 'world.yaml', rpc_timeout=20.0)

    def call(kind, **fields):
        name = ''.join(f'_{letter.lower()}' if letter.isupper() else letter for letter in kind)
        return listener.call(getattr(srv, kind), '/' + name.lstrip('_'), **fields)

    while call('Forward').code == 'not_connected':
        pass
    return call


@pytest.fixture
def ask(running):
    """Return that function; afterwards the world is as the server has loaded it."""
    options = running('SetSimOptions').options
    gains = running('ConfigureController')
    yield running
    gains = {name: getattr(gains, name) for name in ('actuators', 'kp', 'kv', 'torque_limit')} | {
        name: [getattr(gains, name)]
        for name in ('default_kp', 'default_kv', 'default_torque_limit')
    }
    for kind, fields in (
        ('SetSimOptions', {'options': options}),
        ('ConfigureController', gains),
        ('SetControlSource', {'source': 'zmq', 'articulation': 'robot_0'}),
        ('Randomize', {'restore': True}),
        ('Reset', {}),
    ):
        response = running(kind, **fields)
        assert response.success, response.message


def refusal(response):
    assert not response.success
    return response.code, response.message


def test_options(ask):
    told = ask('SetSimOptions')
    assert told.success and list(told.options.gravity) == pytest.approx([0, 0, -9.81])
    moon = msg.SimOptions(gravity=[0.0, 0.0, -1.62], integrator='rk4', enable_multiccd=[False])
    changed = ask('SetSimOptions', options=moon).options
    assert changed.integrator == 'rk4' and list(changed.enable_multiccd) == [False]
    assert list(ask('SetSimOptions').options.gravity) == pytest.approx([0, 0, -1.62])
    code, text = refusal(ask('SetSimOptions', options=msg.SimOptions(solver='magic')))
    assert code == 'bad_value' and 'newton' in text
    bent = msg.SimOptions(gravity=[1.0])
    assert refusal(ask('SetSimOptions', options=bent))[0] == 'bad_value'
    assert refusal(ask('SetSimOptions', options=msg.SimOptions(timestep=[-1.0])))[0] == 'bad_value'
