# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a URI or a text defines."""

from pathlib import Path

import pytest

from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.ros.extras.standard import resources
from urlab_ros_bridge.ros.extras.standard import results

MJCF = '<mujoco model="my box"><worldbody><body><geom size="0.1"/></body></worldbody></mujoco>'
URDF = '<robot name="arm"><link name="base"/></robot>'


def refusal(uri='', text=''):
    with pytest.raises(results.StandardRejected) as caught:
        resources.define(uri, text, None)
    return caught.value.result


def test_a_file_is_sent_as_text_so_that_the_server_may_run_elsewhere(tmp_path):
    path = tmp_path / 'with space.urdf'
    path.write_text(URDF)
    for uri in (path.as_uri(), str(path)):
        found = resources.define(uri, 'this is ignored', None)
        assert (found.xml, found.file, found.name) == (URDF, None, 'arm')


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF)
    monkeypatch.setattr(resources, '_LARGEST_FILE', 10)
    assert refusal(str(path)) == resources.RESOURCE_PARSE_ERROR


def test_a_file_that_refers_to_others_is_sent_as_a_path(tmp_path):
    path = tmp_path / 'mesh.xml'
    path.write_text(MJCF.replace('<worldbody>', '<asset><mesh file="m.obj"/></asset><worldbody>'))
    found = resources.define(path.as_uri(), '', None)
    assert (found.xml, found.file, found.name) == (None, str(path), 'my_box')


@pytest.mark.parametrize('name', object_names())
def test_bundled_objects_compile_to_one_body_of_their_name(name):
    import mujoco

    found = resources.define(f'urlab:{name}', '', None)
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
        ('', '<gazebo/>', resources.UNSUPPORTED_FORMAT),
        ('', f'{MJCF}{" " * 1_000_000}', resources.RESOURCE_PARSE_ERROR),
        ('', f'<!DOCTYPE mujoco>{MJCF}', resources.RESOURCE_PARSE_ERROR),
        ('', 'v 1 2 3', resources.RESOURCE_PARSE_ERROR),
        ('https://example.org/a.xml', '', resources.UNSUPPORTED_FORMAT),
        ('urlab:nothing', '', results.NOT_FOUND),
        ('package://no_such_package/a.xml', '', results.NOT_FOUND),
    ],
)
def test_invalid_resources_are_refused_with_a_code(uri, text, result):
    assert refusal(uri, text) == result


def test_a_path_elsewhere_is_left_to_the_server_unseen(tmp_path):
    """Whether it exists makes no difference."""
    data = tmp_path / 'data'
    data.mkdir()
    readable = ReadableFolders.with_packages(data, environ={'AMENT_PREFIX_PATH': '/opt/ros'})
    secret = tmp_path / 'secret.urdf'
    secret.write_text(URDF)
    (data / 'link.urdf').symlink_to(secret)
    for path in (secret, data / 'link.urdf', data / '../secret.urdf', tmp_path / 'none.urdf'):
        found = resources.define(path.as_uri(), '', readable)
        assert (found.file, found.xml, found.name) == (str(path), None, path.stem)
    (data / 'mine.urdf').write_text(URDF)
    assert resources.define(str(data / 'mine.urdf'), '', readable).xml == URDF
    share = '/opt/ros/share/arm'
    assert readable.find(Path(share, 'a.stl')) == Path(share, 'a.stl')
    assert readable.find(Path(share, '../../../../etc/passwd')) is None
    assert readable.find(Path('a\0b')) is None


@pytest.mark.parametrize(
    ('inner', 'imported'),
    [
        ('<link name="a"/>', False),
        ('<joint type="fixed"/>', False),
        ('<joint type="revolute"/>', True),
        ('<x:property xmlns:x="http://www.ros.org/wiki/xacro"/>', True),
        ('<x:property/>', True),
    ],
)
def test_a_urdf_with_what_the_server_does_not_read_is_imported(inner, imported):
    text = URDF.replace('</robot>', f'{inner}</robot>')
    assert resources.define('', text, None).is_imported == imported
