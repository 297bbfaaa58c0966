# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The process that tries models: what it survives, and what it cannot read."""

import os
from pathlib import Path
import signal

import mujoco
import pytest
from spawn_models import TETRAHEDRON
from waiting import wait_until

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import integration_state
from urlab_ros_bridge.sim.model.client_models import Trial
from urlab_ros_bridge.sim.model.client_models import trial as trial_module
from urlab_ros_bridge.sim.model.client_models.document import Bundle

GOOD = Bundle(xml='<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')


# These would be refused before; here they are the compiler that hangs, or eats.
ENDLESS = Bundle(
    xml='<mujoco><worldbody><replicate count="2000000000"><geom size="1"/></replicate>'
    '</worldbody></mujoco>'
)


GREEDY = Bundle(
    xml='<mujoco><asset><texture name="t" type="2d" builtin="flat" width="40000" height="40000"/>'
    '</asset><worldbody><geom size="1"/></worldbody></mujoco>'
)


@pytest.fixture
def trial(keep):
    """Return a factory of trials."""
    return lambda **limits: keep(Trial(**limits))


def refused(trial, bundle):
    with pytest.raises(OpError) as caught:
        trial.sizes(bundle)
    return f'{caught.value.code}: {caught.value}'


def children(process):
    return Path(f'/proc/{process}/task/{process}/children').read_text().split()


@pytest.mark.parametrize(
    ('limits', 'bundle', 'says'),
    [
        ({'cpu': 1}, ENDLESS, 'more processor time'),
        ({'wall': 0.5}, ENDLESS, 'more time'),
        ({'memory': 1 << 30}, GREEDY, 'more memory'),
    ],
)
def test_an_exceeded_limit_is_named_and_the_next_model_is_tried(trial, limits, bundle, says):
    made = trial(**limits)
    assert says in refused(made, bundle)
    process = made._worker.process.pid
    wait_until(lambda: not children(process))
    assert made.sizes(GOOD)['nv'] == 1
    assert made._worker.process.pid == process, 'it is warm still'


@pytest.mark.parametrize('flag', ['', '<option><flag autoreset="disable"/></option>'])
@pytest.mark.parametrize(('time', 'velocity'), [(0.0, 1e200), (7.0, 1e200), (0.0, 1.0)])
def test_a_state_that_becomes_invalid_is_noticed_at_any_time(trial, flag, time, velocity):
    model = mujoco.MjModel.from_xml_string(GOOD.xml.replace('<world', f'{flag}<world', 1))
    data = mujoco.MjData(model)
    data.time, data.qvel[0] = time, velocity
    assert trial().step(model, integration_state(model, data)).diverged == (velocity > 1e10)


def test_files_outside_the_bundle_cannot_be_read(trial, tmp_path):
    """Even if a path came through all checks: this process cannot open files."""
    inside = '<mujoco><worldbody><body name="secret"><geom size="1"/></body></worldbody></mujoco>'
    (tmp_path / 'o.xml').write_text(inside)
    (tmp_path / 'o.obj').write_text(TETRAHEDRON)
    made = trial()
    for content in (
        f'<Include file="{tmp_path}/o.xml"/>',
        f'<asset><model name="m" file="{tmp_path}/o.xml"/></asset>',
        f'<asset><mesh name="m" file="{tmp_path}/o.obj"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/></worldbody>',
    ):
        assert 'import_failed' in refused(made, Bundle(xml=f'<mujoco>{content}</mujoco>'))
    assert made.sizes(GOOD)


def test_a_stopped_process_is_given_up(trial, monkeypatch):
    monkeypatch.setattr(trial_module, '_GRACE_SECONDS', 0.2)
    made = trial(wall=0.5)
    made.sizes(GOOD)
    stopped = made._worker.process
    os.kill(stopped.pid, signal.SIGSTOP)
    assert 'more time' in refused(made, ENDLESS)
    assert stopped.returncode == -signal.SIGKILL
    monkeypatch.undo()
    assert made.sizes(Bundle(xml=GOOD.xml.replace('"1"', '"3"')))
