# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What of a client's document reaches MuJoCo, and what is refused before."""

from contextlib import suppress
import os
from xml.etree import ElementTree

import mujoco
import pytest
from spawn_models import TETRAHEDRON

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import words
from urlab_ros_bridge.sim.model.client_models.document import Document
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.requests.paths import DataFolder

SECRET = '<mujoco><worldbody><body name="secret"><geom size="1"/></body></worldbody></mujoco>'


class Places:
    """`data` is the folder of clients, `outside` has files that they must not read."""

    def __init__(self, folder):
        self.data, self.outside = folder / 'data', folder / 'outside'
        for place in (self.data, self.outside):
            (place / 'meshes').mkdir(parents=True)
            (place / 'meshes' / 'm.obj').write_text(TETRAHEDRON)
        (self.outside / 'o.obj').write_text(TETRAHEDRON)
        (self.outside / 'o.xml').write_text(SECRET)
        os.symlink(self.outside, self.data / 'away')
        os.mkfifo(self.data / 'fifo')
        self.files = ClientFiles(DataFolder(self.data))

    def text(self, text):
        return Document(self.files, self.data, False).read(text, 'xml')

    def file(self, name, text):
        (self.data / name).write_text(text)
        return Document(self.files, self.data, True).read(text, name)


@pytest.fixture(scope='module')
def places(tmp_path_factory):
    """Return a data folder with things outside of it."""
    return Places(tmp_path_factory.mktemp('places'))


def world(text):
    return f'<mujoco><worldbody>{text}</worldbody></mujoco>'


def asset(text):
    return f'<mujoco><asset>{text}</asset></mujoco>'


URDF = """<robot name="cart"><link name="base">
  <visual><geometry><box size="0.2 0.2 0.2"/></geometry></visual>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
# Each names {0}, which is a file outside: it exists, or it does not.
OUTSIDE = {
    'mesh': asset('<mesh name="m" file="{0}.obj"/>'),
    'hfield': asset('<hfield name="m" file="{0}.obj" size="1 1 1 1"/>'),
    'deformable skin': '<mujoco><deformable><skin name="m" file="{0}.obj"/></deformable></mujoco>',
    'cube': asset('<texture name="m" type="cube" fileright="{0}.obj"/>'),
    'flexcomp': world('<body name="b"><flexcomp name="f" type="mesh" file="{0}.obj"/></body>'),
    'content type': asset('<mesh name="m" content_type="model/obj" file="{0}.obj"/>'),
    'urdf': URDF.replace('<box size="0.2 0.2 0.2"/>', '<mesh filename="{0}.obj"/>'),
}
WAYS = (
    '{outside}/{name}',
    '../outside/{name}',
    'away/{name}',
    'file://{outside}/{name}',
    'package://x/../../outside/{name}',
)


def refused(read, *args):
    with pytest.raises(OpError) as caught:
        read(*args)
    return f'{caught.value.code}: {caught.value}'


@pytest.mark.parametrize('text', OUTSIDE.values(), ids=OUTSIDE)
def test_files_outside_are_refused_without_revealing_whether_they_exist(places, text):
    for way in WAYS:
        messages = []
        for name in ('o', 'none'):
            path = way.format(outside=places.outside, name=name)
            message = refused(places.text, text.replace('{0}', path))
            messages.append(message.replace(path, 'PATH'))
        assert messages[0] == messages[1] and messages[0].startswith('missing_assets')


@pytest.mark.parametrize('folder', ['meshdir', 'assetdir', 'texturedir'])
def test_folders_of_the_compiler_lead_nowhere_else(places, folder):
    kind = 'texture' if folder == 'texturedir' else 'mesh'
    file = f'<asset><{kind} name="m" file="o.obj"/></asset>'
    for where in (places.outside, '../outside', 'away', './meshes/../../outside'):
        compiler = f'<compiler {folder}="{where}"/>'
        # The last one counts, wherever it is.
        for text in (compiler + file, f'<compiler {folder}="meshes"/>{file}{compiler}'):
            assert 'missing_assets' in refused(places.text, f'<mujoco>{text}</mujoco>')


@pytest.mark.parametrize('name', ['fifo', 'meshes', '/dev/zero', '/proc/self/mem'])
def test_only_regular_files_are_opened(places, name):
    assert 'missing_assets' in refused(places.text, asset(f'<mesh name="m" file="{name}"/>'))
    for text in (f'<mujoco><include file="{name}"/></mujoco>', asset(f'<model file="{name}"/>')):
        assert 'missing_assets' in refused(places.file, 'a.xml', text)


@pytest.mark.parametrize('tag', ['include', 'iNcLuDe'])
@pytest.mark.parametrize('file', ['{outside}/o.xml', '../outside/o.xml', 'away/o.xml', 'fifo'])
def test_includes_stay_inside_in_whatever_case(places, tag, file):
    text = f'<mujoco><{tag} file="{file.format(outside=places.outside)}"/></mujoco>'
    for message in (refused(places.text, text), refused(places.file, 'a.xml', text)):
        assert message.startswith(('import_failed', 'missing_assets')) and 'secret' not in message


# By a part of the message.
HOSTILE = {
    'document type': '<!DOCTYPE m [<!ENTITY a "xx"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>',
    'at most 128': world('<body>' * 5000 + '</body>' * 5000),
    'not XML': '<mujoco model="\ud800"/>',
    '<sdf>': '<sdf/>',
    'worldBody': '<mujoco><worldBody/></mujoco>',
    'attribute of <geom>': world('<geom File="x"/>'),
    'plugin': '<mujoco><extension><plugin plugin="my.reader"/></extension></mujoco>',
    'content_type': asset('<mesh name="m" content_type="x/y" file="a"/>'),
    'count of <replicate>': world('<replicate count="2000000000"><geom/></replicate>'),
    '2e9': world('<replicate count="2e9"><geom/></replicate>'),
    'copies': world('<replicate count="99"><geom/></replicate>' * 99),
    '9000000': world('<body><composite type="cable" count="9000000 1 1"/></body>'),
    '5000 x 5000': asset('<hfield nrow="5000" ncol="5000" size="1 1 1 1"/>'),
    'width of <texture>': asset('<texture name="t" width="999999" height="1"/>'),
    '99G': '<mujoco><size memory="99G"/></mujoco>',
    'lots': '<mujoco><size memory="lots"/></mujoco>',
    'dim of <user>': '<mujoco><sensor><user dim="2000000000"/></sensor></mujoco>',
    'resolution of <camera>': world('<camera resolution="64 100000"/>'),
    'cannot include': '<mujoco><include file="a.xml"/></mujoco>',
    '<model>': asset('<model name="a" file="a.xml"/>'),
    'memory of <size>': '<robot><mujoco><size memory="99G"/></mujoco></robot>',
}
NESTED = '<replicate count="300"><replicate count="300"><geom/></replicate></replicate>'


@pytest.mark.parametrize(
    ('says', 'text'), [*HOSTILE.items(), ('count of <replicate>', world(NESTED))]
)
def test_hostile_documents_are_refused_before_mujoco_sees_them(places, says, text):
    message = refused(places.text, text)
    assert message.startswith('import_failed') and says in message


def test_sizes_are_bounded_before_anything_is_parsed(places, monkeypatch):
    monkeypatch.setattr(limits, 'CHARACTERS', 100)
    assert 'at most 100' in refused(places.text, '<mujoco>'.ljust(101))
    (places.data / 'long.xml').write_text(' ' * 200)
    including = '<mujoco><include file="long.xml"/></mujoco>'
    assert 'at most 100' in refused(places.file, 'a.xml', including)
    monkeypatch.setattr(limits, 'CHARACTERS', 10_000)
    monkeypatch.setattr(limits, 'ELEMENTS', 10)
    assert 'at most 10' in refused(places.text, world('<geom/>' * 9))
    monkeypatch.setattr(limits, 'FILE_BYTES', 20)
    assert 'at most 20' in refused(places.text, asset('<mesh name="m" file="meshes/m.obj"/>'))


def test_documents_do_not_multiply(places):
    many = '<mujoco>' + '<include file="b.xml"/>' * 30 + '</mujoco>'
    (places.data / 'b.xml').write_text(many.replace('b.xml', 'c.xml'))
    (places.data / 'c.xml').write_text('<mujoco><option/></mujoco>')
    deep = '<body>' * 100 + '<include file="deep.xml"/>' + '</body>' * 100
    for name, text, says in (
        ('self.xml', '<mujoco><include file="self.xml"/></mujoco>', 'documents of one model'),
        ('a.xml', many, 'documents of one model'),
        ('models.xml', asset('<model file="models.xml"/>'), 'documents of one model'),
        ('deep.xml', f'<mujoco>{deep}</mujoco>', 'nested elements'),
    ):
        assert says in refused(places.file, name, text)


def test_a_urdf_is_cut_to_what_mujoco_reads(places):
    text = URDF.replace(
        '</robot>',
        '<gazebo><plugin filename="libx.so"><file>/etc/passwd</file></plugin></gazebo>'
        '<transmission name="t"/></robot>',
    )
    xml = places.text(text).xml
    assert 'gazebo' not in xml and 'passwd' not in xml and 'transmission' not in xml
    assert mujoco.MjSpec.from_string(xml).compile().ngeom == 2


STRANGE = [
    '<robot><material assetdir="" file="m.obj"/></robot>',
    '<robot><mujoco><option><mesh file="meshes/m.obj"/></option></mujoco></robot>',
]


@pytest.mark.parametrize('text', STRANGE)
def test_a_file_named_in_a_strange_place_is_refused_or_copied(places, text):
    with suppress(OpError):
        bundle = places.text(text)
        held = {*bundle.parsed, *bundle.compiled, ''}
        for element in ElementTree.fromstring(bundle.xml).iter():
            assert element.get('file', '') in held
            assert not any(element.get(name) for name in words.FOLDERS if name != 'strippath')
