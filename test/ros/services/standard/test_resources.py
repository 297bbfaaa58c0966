# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a URI or a text defines."""

from pathlib import Path

import pytest

from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.ros.services.standard import base as results
from urlab_ros_bridge.ros.services.standard import resources

MJCF = '<mujoco model="my box"><worldbody><body><geom size="0.1"/></body></worldbody></mujoco>'
URDF = '<robot name="arm"><link name="base"/></robot>'


def refusal(uri='', text=''):
    with pytest.raises(results.StandardRejected) as caught:
        resources.define(uri, text)
    return caught.value.result


def test_a_file_is_sent_as_text_so_that_the_server_may_run_elsewhere(tmp_path):
    path = tmp_path / 'with space.urdf'
    path.write_text(URDF)
    for uri in (path.as_uri(), str(path)):
        found = resources.define(uri, 'this is ignored')
        assert (found.xml, found.file, found.name) == (URDF, None, 'arm')


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF)
    monkeypatch.setattr(resources, '_LARGEST', 10)
    assert refusal(str(path)) == resources.RESOURCE_PARSE_ERROR


def test_a_file_that_refers_to_others_is_sent_as_a_path(tmp_path):
    path = tmp_path / 'mesh.xml'
    path.write_text(MJCF.replace('<worldbody>', '<asset><mesh file="m.obj"/></asset><worldbody>'))
    found = resources.define(path.as_uri(), '')
    assert (found.xml, found.file, found.name) == (None, str(path), 'my_box')


@pytest.mark.parametrize('name', object_names())
def test_bundled_objects_compile_to_one_body_of_their_name(name):
    import mujoco

    found = resources.define(f'urlab:{name}', '')
    assert found.name == name and found.file is None
    model = mujoco.MjModel.from_xml_string(found.xml)
    assert model.nbody == 2 and model.body(1).name == name


def test_a_package_is_found_by_its_name():
    path = resources.path_of('package://simulation_interfaces/package.xml')
    assert path == Path(path) and path.is_file()


@pytest.mark.parametrize(
    ('uri', 'text', 'result'),
    [
        ('', ' ', resources.NO_RESOURCE),
        ('', '<sdf/>', resources.UNSUPPORTED_FORMAT),
        ('', 'v 1 2 3', resources.RESOURCE_PARSE_ERROR),
        ('https://example.org/a.xml', '', resources.UNSUPPORTED_FORMAT),
        ('urlab:nothing', '', results.NOT_FOUND),
        ('package://no_such_package/a.xml', '', results.NOT_FOUND),
    ],
)
def test_invalid_resources_are_refused_with_a_code(uri, text, result):
    assert refusal(uri, text) == result
