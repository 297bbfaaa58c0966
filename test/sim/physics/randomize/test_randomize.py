# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation: what is set is what is reported, seeds repeat, undoing is exact."""

import copy

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics.randomizer import KINDS

LAB = """<mujoco model="lab"><statistic extent="7" meansize="2"/>
  <asset><material name="paint" rgba="0.2 0.4 0.6 0.5"/></asset><worldbody>
  <light name="lamp" pos="0 0 3" diffuse="0.6 0.6 0.6"/><light pos="1 0 3"/>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0" damping="0.5"/>
    <geom name="bone" type="box" size="0.1 0.2 0.3" mass="2" friction="0.8 0.01 0.002"/>
    <body name="hand" pos="0 0 0.5"><joint name="wrist" type="ball" damping="0.2"/>
      <geom size="0.1" mass="1" material="paint"/></body></body>
  <body name="box" pos="2 0 1"><freejoint name="slip"/><geom size="0.1" mass="3"/></body>
  </worldbody><actuator><position name="servo" joint="elbow" kp="40" kv="2"/>
  <motor name="motor" joint="elbow" gear="3"/>
  <muscle name="muscle" joint="elbow" lengthrange="0.1 1"/></actuator></mujoco>"""


ALL = {
    'mass': {'scale': [0.5, 2.0]},
    'friction': {'scale': [0.5, 1.5]},
    'damping': {'scale': [0.1, 10.0], 'distribution': 'log_uniform'},
    'actuator_gain': {'scale': [0.9, 1.1]},
    'gravity': {'offset': [-1.0, 1.0]},
    'color': {'value': [0.0, 1.0]},
    'material_color': {'scale': [0.5, 1.0]},
    'light_position': {'offset': [-0.5, 0.5]},
    'light_diffuse': {'value': [0.2, 0.9]},
}


@pytest.fixture
def lab(rig, mjcf):
    return rig(mode='direct', model=mjcf(LAB))


def arrays(model):
    found = {'gravity': model.opt.gravity.copy(), 'extent': np.array(model.stat.extent)}
    for name in dir(model):
        value = getattr(model, name)
        if isinstance(value, np.ndarray):
            found[name] = value.copy()
    return found


def different(a, b):
    return {name for name in a if a[name].tobytes() != b[name].tobytes()}


def test_every_kind_changes_and_restore_is_bit_for_bit(lab):
    before = arrays(lab.model)
    reply = lab.ask('randomize', seed=7, items=ALL)
    changed = different(before, arrays(lab.model))
    assert {KINDS[name].field for name in ALL} <= changed and reply['items'].keys() == ALL.keys()
    assert lab.ask('randomize', restore=True)['items'] == {}
    assert different(before, arrays(lab.model)) == set()


def test_mass_takes_inertia_along_and_derived_constants_are_those_of_the_compiler(lab):
    before = copy.copy(lab.model)
    reply = lab.ask('randomize', seed=3, items={'mass': {'scale': [0.5, 2.0]}})
    model, masses = lab.model, reply['items']['mass']
    assert set(masses) == {'lab_arm', 'lab_hand', 'box'}
    for name, mass in masses.items():
        body = model.body(name).id
        factor = mass / before.body_mass[body]
        assert model.body_mass[body] == mass and 0.5 <= factor <= 2.0
        assert np.allclose(model.body_inertia[body], factor * before.body_inertia[body])
    assert len({mass / before.body(name).mass[0] for name, mass in masses.items()}) == 3
    assert model.body_subtreemass[0] == pytest.approx(sum(masses.values()))
    # A compiler that is given these masses finds the same constants.
    spec = lab.simulation.world.source.copy()
    for body in spec.bodies:
        for geom in body.geoms:
            if body.name in masses:
                geom.mass = masses[body.name]
    fresh = spec.compile()
    for name in ('body_mass', 'body_inertia', 'dof_invweight0', 'body_invweight0',
                 'actuator_acc0', 'dof_M0', 'body_subtreemass'):  # fmt: skip
        assert np.allclose(getattr(model, name), getattr(fresh, name), rtol=1e-6), name
    for name in ('meaninertia', 'meanmass', 'extent', 'meansize'):
        assert getattr(model.stat, name) == getattr(before.stat, name), name


def test_the_same_seed_gives_the_same_values_regardless_of_earlier_requests(lab):
    first = lab.ask('randomize', seed=11, items=ALL)
    kept = arrays(lab.model)
    lab.ask('randomize', seed=12, items={'mass': ALL['mass'], 'color': ALL['color']})
    assert different(kept, arrays(lab.model))
    again = lab.ask('randomize', seed=11, items=ALL)
    assert again['items'] == first['items'] and different(kept, arrays(lab.model)) == set()
    # An element's number does not depend on what else is chosen.
    alone = lab.ask('randomize', seed=11, items={'mass': {**ALL['mass'], 'bodies': 'box'}})
    assert alone['items']['mass'] == {'box': first['items']['mass']['box']}


def test_scale_and_value_are_applied_as_documented(lab):
    scale = {'scale': [0.5, 2.0], 'together': True}
    masses = lab.ask('randomize', seed=5, items={'mass': scale})['items']['mass']
    factor = masses['box'] / 3
    assert masses == pytest.approx({'lab_arm': 2 * factor, 'lab_hand': factor, 'box': 3 * factor})
    exact = lab.ask('randomize', items={'mass': {'scale': 1.5}})['items']['mass']
    assert exact == {'lab_arm': 3.0, 'lab_hand': 1.5, 'box': 4.5}
    for item, friction in (
        ({'value': 0.3}, [0.3, 0.01, 0.002]),
        ({'scale': 2}, [1.6, 0.02, 0.004]),
    ):
        lab.ask('randomize', items={'friction': {**item, 'geoms': 'lab_bone'}})
        assert lab.model.geom('lab_bone').friction.tolist() == friction
    lab.ask('randomize', items={'actuator_gain': {'scale': 0.5}, 'damping': {'value': 4}})
    servo, motor = lab.model.actuator('lab_servo'), lab.model.actuator('lab_motor')
    assert servo.gainprm[0] == 20 and servo.biasprm[:3].tolist() == [0, -20, -1]
    assert motor.gainprm[0] == 0.5 and set(lab.model.dof_damping.tolist()) == {4.0}
    lab.ask('randomize', items={'color': {'value': 0.25}})
    assert lab.model.geom('floor').rgba.tolist() == [0.25, 0.25, 0.25, 1.0]


@pytest.mark.parametrize(
    ('item', 'code'),
    [
        ({'mass': {}}, 'missing_field'),
        ({'weight': {'scale': [1, 2]}}, 'bad_value'),
        ({'mass': {'scale': [1, 2], 'geoms': '*'}}, 'bad_value'),
        ({'mass': {'scale': [2, 1]}}, 'bad_value'),
        ({'mass': {'scale': [1]}}, 'bad_value'),
        ({'mass': {'scale': 1, 'bodies': 7}}, 'bad_value'),
        ({'mass': {'scale': 1, 'bodies': 'nobody'}}, 'bad_value'),
        ({'mass': {'scale': 1, 'articulation': 'nobody'}}, 'unknown_articulation'),
        ({'damping': {'scale': [0, 1], 'distribution': 'log_uniform'}}, 'bad_value'),
        ({'color': {'value': [0, 2]}}, 'bad_value'),
    ],
)
def test_refused_requests_change_nothing(lab, item, code):
    before, revision = arrays(lab.model), lab.engine.revision
    assert lab.code('randomize', items={'friction': {'scale': 2}, **item}) == code
    assert different(before, arrays(lab.model)) == set() and lab.engine.revision == revision


def test_what_mujoco_refuses_is_undone_and_the_gravity_that_was_set_last_stays(lab, monkeypatch):
    lab.ask('randomize', items={'gravity': {'scale': 0.5}})
    lab.ask('set_sim_options', options={'gravity': [0, 0, -1.62]})
    before = arrays(lab.model)

    def refuse(model, data):
        raise mujoco.FatalError('no')

    with monkeypatch.context() as patch:
        patch.setattr(mujoco, 'mj_setConst', refuse)
        items = {'color': {'value': 0.5}, 'mass': {'scale': 2}}
        assert lab.code('randomize', items=items) == 'bad_value'
    assert different(before, arrays(lab.model)) == set()
    lab.ask('randomize', items={'gravity': {'scale': 2}})
    assert lab.model.opt.gravity[2] == pytest.approx(-3.24)
    lab.ask('randomize', restore=True)
    assert different(before, arrays(lab.model)) == set()
