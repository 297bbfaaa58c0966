# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for all tests; the helpers in `harness` and modules of examples become importable."""

from contextlib import ExitStack
import ctypes
import gc
import importlib.util
import logging
import os
from pathlib import Path
import runpy
import signal
import sys
import types

from hypothesis import HealthCheck
from hypothesis import settings
import pytest

sys.path.insert(0, str(Path(__file__).parent / 'harness'))
sys.path.append(str(Path(__file__).parents[1] / 'examples'))

import borrowed
import bytecode
from example_counts import examples
from example_counts import LONG

from urlab_ros_bridge.interpreters import add_own_packages
from urlab_ros_bridge.interpreters import missing_here
from urlab_ros_bridge.interpreters import own_folder
from urlab_ros_bridge.interpreters import python_of

# Containers often switch bytecode off. Tests start hundreds of Python processes, and each would
# compile everything that it imports: a bridge starts in half the processor time with it.
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
sys.dont_write_bytecode = False
# Each process would start a thread for each processor, for matrices of a few rows.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')


HERE = Path(__file__).parent
# Folders of tests import from each other; the standard library has a package of that name, too.
TESTS = types.ModuleType('test')
TESTS.__path__ = [str(HERE)]
sys.modules['test'] = TESTS

ROS_FOLDERS = ('config', 'integration', 'policy', 'ros')
# Modules without which folders and files are skipped: `colcon test` may lack any of them, because
# no distribution of Linux has them.
OPTIONAL = {
    'av', 'catkin_pkg', 'gymnasium', 'gymnasium_robotics', 'mcap', 'mcap_ros2', 'mink',
    'mujoco', 'onnx', 'onnxruntime', 'orjson', 'playwright', 'psutil', 'pyarrow', 're2',
    'rosbags', 'scipy', 'setuptools', 'trimesh', 'websockets', 'wheel', 'xacro', 'yourdfpy',
}  # fmt: skip
# Of `urlab setup`, where the tests run on the Python of ROS.
add_own_packages()
IS_INCOMPLETE = bool(missing_here(OPTIONAL))

PR_SET_PDEATHSIG = 1


def pytest_addoption(parser):
    parser.addoption('--long', action='store_true', help='run the tests marked long as well')


def pytest_collection_modifyitems(config, items):
    """Leave out the long matrices, unless they are asked for; long files begin first."""
    if not config.getoption('long'):
        left_out = [item for item in items if item.get_closest_marker('long')]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker('long')]
    if 'PYTEST_XDIST_WORKER' in os.environ:
        import work_units

        items.sort(key=lambda item: work_units.rank(item.path.relative_to(HERE).as_posix()))


def pytest_ignore_collect(collection_path):
    """Leave out folders that need ROS, its built messages, or packages that are missing here."""
    if needs_ros(collection_path) and not importlib.util.find_spec('urlab_msgs'):
        return True
    conftest = collection_path / 'conftest.py'
    if collection_path != HERE and IS_INCOMPLETE and conftest.is_file():
        try:
            runpy.run_path(str(conftest))
        except ImportError as error:
            return is_optional(error) or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return skipped_if_incomplete(report, getattr(report, 'call', None), collector.path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return skipped_if_incomplete((yield), call, item.path)


def skipped_if_incomplete(report, call, path):
    """Return the report of a file or a test, as skipped if an optional package is missing here."""
    cause = call.excinfo.value if IS_INCOMPLETE and call and call.excinfo else None
    while cause is not None:
        if isinstance(cause, ImportError) and is_optional(cause):
            report.outcome = 'skipped'
            report.longrepr = (str(path), 0, f'Skipped: needs {cause.name}')
        cause = cause.__cause__
    return report


def pytest_itemcollected(item):
    if needs_ros(item.path):
        item.add_marker('ros')


def needs_ros(path):
    return path.relative_to(HERE).as_posix().partition('/')[0] in ROS_FOLDERS


def is_optional(error):
    """Return whether an optional package is missing, or too old for what is imported from it."""
    return (error.name or '').partition('.')[0] in OPTIONAL


def pytest_collection():
    gc.disable()


def pytest_collection_finish():
    """Modules and tests stay to the end: no search for garbage needs to go through them."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue('dist') == 'loadfile':
        import work_units

        return work_units.UnitScheduling(config, log)
    return None


def pytest_configure(config):
    """Say how many examples there are; end a worker, and its processes, with its test run."""
    if config.getoption('long'):
        os.environ[LONG] = 'yes'
    # How long an example takes says more about the machine than about what is tested.
    settings.register_profile(
        'urlab',
        max_examples=examples(100),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile('urlab')
    if config.getoption('dist', 'no') != 'no' and bytecode.is_missing(HERE):
        bytecode.make(HERE)
    if 'PYTEST_XDIST_WORKER' in os.environ:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Programs that run inside a test set up the project's logging; the next test has its own."""
    logger = logging.getLogger('urlab_ros_bridge')
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    with borrowed.borrowing() as give_back:
        try:
            return (yield)
        finally:
            give_back()
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """The ROS domains and ports that a fixture has borrowed are its own until it ends."""
    with borrowed.borrowing() as give_back:
        fixturedef.addfinalizer(give_back)
        return (yield)


def _keep():
    """Return a function: thing -> the same; it is closed or stopped at the end, the last first."""
    with ExitStack() as things:

        def kept(thing):
            # Looked up at the end: a test that ends it by itself replaces the method.
            things.callback(lambda: (thing.close if hasattr(thing, 'close') else thing.stop)())
            return thing

        yield kept


keep = pytest.fixture(_keep, name='keep')
keep_all = pytest.fixture(_keep, name='keep_all', scope='module')


@pytest.fixture(scope='session', autouse=True)
def _places_of_tests(tmp_path_factory):
    """Nothing is written into the user's folders, and ROS stays on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        if os.access(python_of(own_folder()), os.X_OK) and 'VIRTUAL_ENV' not in os.environ:
            patch.setenv('VIRTUAL_ENV', str(own_folder()))  # in the data folder of the user
        patch.setenv('XDG_DATA_HOME', str(tmp_path_factory.mktemp('data')))
        for name, value in (
            ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST'),
            ('ROS_LOG_DIR', str(tmp_path_factory.mktemp('ros_log'))),
        ):
            if name not in os.environ:
                patch.setenv(name, value)
        yield
