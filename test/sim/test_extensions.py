# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Other packages add ops: the package examples/my_op, and broken ones."""

from contextlib import ExitStack
import os
import sys

from bundled_server import ports_of
from bundled_server import start_server
from installed import install_example
from lifelines import run_process
import pytest
from rig import Rig

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.extensions import Extension
from urlab_ros_bridge.sim.extensions import Extensions
from urlab_ros_bridge.sim.ops import build_registry


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """Return the folder that examples/my_op is installed in."""
    return install_example('my_op', tmp_path_factory.mktemp('package'))


@pytest.fixture
def installed(site, monkeypatch):
    """Have the package found in this process as long as the test runs."""
    monkeypatch.syspath_prepend(site)
    yield
    sys.modules.pop('robot_mass', None)


@pytest.fixture
def served(installed):
    """Return a server that has found the package."""
    server = start_server(cameras='off')
    yield server
    server.stop()


@pytest.mark.parametrize('transport', ['zmq', 'shm'])
def test_the_op_of_an_installed_package_is_served(served, transport):
    model = served.simulation.world.model
    bodies = [body for body in range(model.nbody) if model.body(body).name.startswith('rover_')]
    with Client(**ports_of(served), transport=transport) as client:
        assert client.meta()['robot_mass'].required == ('articulation',)
        mass = client.request('robot_mass', articulation='rover')['mass']
        assert mass == pytest.approx(model.body_mass[bodies].sum()) and mass > 1.0
        with pytest.raises(RemoteError, match='articulation') as refusal:
            client.request('robot_mass')
        assert refusal.value.code == 'missing_field'


BROKEN = {
    'raises when it is imported': '1 / 0',
    'returns nothing': 'def extend(host): pass',
    'serves an op of the server': """
from urlab_ros_bridge.sim.extensions import Extension
from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.wire.ops import NO_MANAGER, OPS, Op
MINE = RegisteredOp(Op('mine', NO_MANAGER, ''), print)
extend = lambda host: Extension([MINE, RegisteredOp(OPS['step'], print)])
""",
}


@pytest.mark.parametrize('code', BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_package_is_named_and_left_out(installed, monkeypatch, tmp_path, caplog, code):
    (tmp_path / 'robot_mass.py').write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    registry = build_registry()
    served = registry.meta()
    Extensions(Rig().host, registry).add_installed()
    assert registry.meta() == served
    assert "'robot_mass' of my_op" in caplog.text


def test_a_service_and_an_end_that_fail_leave_the_others_alone():
    worlds, closed = [], []

    def failing(*_):
        raise RuntimeError('of this extension')

    def sound(simulation):
        worlds.append(simulation.world.name)
        return ExitStack()

    server = start_server(
        lambda host: Extension(services=(sound,), close=lambda: closed.append('sound')),
        lambda host: Extension(services=(failing,), close=failing),
        cameras='off',
    )
    assert server.simulation.live.is_alive()
    server.stop()
    assert (worlds, closed) == (['rover'], ['sound'])


def test_a_server_without_the_option_never_imports_the_editor():
    code = (
        'import sys\n'
        'from bundled_server import running_server\n'
        'with running_server(cameras="off"): pass\n'
        'print([name for name in sys.modules if name.startswith("urlab_ros_bridge.editor")])'
    )
    ended = run_process(
        [sys.executable, '-c', code],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ended.stdout == '[]\n', ended.stderr
