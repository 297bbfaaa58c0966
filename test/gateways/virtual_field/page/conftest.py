# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A browser and a rover that all tests of the page share."""

from bundled_server import simulation
import pytest

from test.gateways.running import field_at
from test.gateways.virtual_field.page.browser import chromium
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[FAILED] = report.failed
    return report


@pytest.fixture(autouse=True)
def _page_is_loaded_anew_after_a_failure(request):
    """Tests share a page: what a failed one has left open is not there when it is tried again."""
    yield
    if request.node.stash.get(FAILED, False) and 'visitor' in request.fixturenames:
        request.getfixturevalue('visitor').reload()


@pytest.fixture(scope='package')
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope='package')
def rover_files(tmp_path_factory):
    """Return the data folder of the rover's server."""
    return tmp_path_factory.mktemp('rover')


@pytest.fixture(scope='package')
def rover(rover_files):
    with simulation('rover', data_dir=rover_files) as port:
        yield port


@pytest.fixture(scope='package')
def rover_url(rover):
    with field_at(rover, PageFiles()) as gateway:
        yield gateway.url


@pytest.fixture(scope='module')
def bimanual_gateway(bimanual):
    with field_at(bimanual, PageFiles()) as gateway:
        yield gateway


@pytest.fixture
def urlab(rover):
    """Return a client of the rover, which lives as long as a test."""
    with Client(rpc_port=rover, shared=True) as client:
        client.connect()
        client.set_mode('live')
        client.set_paused(False)
        yield client
        client.set_mode('live')
        client.set_paused(True)  # a world that stands still costs little, and is not drawn again
