# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What of a client's document reaches MuJoCo, and what is refused before."""

from xml.etree import ElementTree

from example_counts import examples
from hostile_documents import asset
from hostile_documents import HOSTILE
from hostile_documents import OUTSIDE
from hostile_documents import world
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import pytest
from spawn_models import URDF

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import words
from urlab_ros_bridge.sim.model.client_models.document import Document
from urlab_ros_bridge.sim.model.client_models.files import ClientFiles
from urlab_ros_bridge.sim.requests.paths import DataFolder


def refused(read, *args):
    with pytest.raises(OpError) as caught:
        read(*args)
    return f'{caught.value.code}: {caught.value}'


@pytest.mark.parametrize('way', ['{outside}/{name}', '../outside/{name}', 'away/{name}',
                                 'file://{outside}/{name}', 'package://{outside}/{name}',
                                 'package://x/../../outside/{name}',
                                 'meshes/../../outside/{name}'])  # fmt: skip
@pytest.mark.parametrize('text', OUTSIDE.values(), ids=OUTSIDE)
def test_files_outside_are_refused_without_revealing_whether_they_exist(places, text, way):
    messages = []
    for name in ('o', 'none'):
        path = way.format(outside=places.outside, name=name)
        message = refused(places.text, text.replace('{0}', path))
        messages.append(message.replace(path, 'PATH'))
    assert messages[0] == messages[1] and messages[0].startswith(
        'missing_assets: there is no file'
    )


@pytest.mark.parametrize('folder', ['meshdir', 'assetdir', 'texturedir'])
@pytest.mark.parametrize('where', ['{outside}', '../outside', 'away', './meshes/../../outside'])
def test_folders_of_the_compiler_lead_nowhere_else(places, folder, where):
    kind = 'texture' if folder == 'texturedir' else 'mesh'
    compiler = f'<compiler {folder}="{where.format(outside=places.outside)}"/>'
    for text in (
        f'<mujoco>{compiler}<asset><{kind} name="m" file="o.obj"/></asset></mujoco>',
        # The last one counts, wherever it is.
        f'<mujoco><compiler {folder}="meshes"/><asset><{kind} name="m" file="o.obj"/></asset>'
        f'{compiler}</mujoco>',
    ):
        assert 'missing_assets' in refused(places.text, text)


@pytest.mark.parametrize('name', ['fifo', 'meshes', '/dev/zero', '/dev/stdin', '/proc/self/mem'])
def test_only_regular_files_are_opened(places, name):
    message = refused(places.text, asset(f'<mesh name="m" file="{name}"/>'))
    assert 'missing_assets' in message
    for text in (
        f'<mujoco><include file="{name}"/></mujoco>',
        asset(f'<model name="m" file="{name}"/>'),
    ):
        places.write('a.xml', text)
        assert 'missing_assets' in refused(places.file, 'a.xml')


@pytest.mark.parametrize('tag', ['include', 'Include', 'INCLUDE', 'iNcLuDe'])
@pytest.mark.parametrize('file', ['{outside}/o.xml', '../outside/o.xml', 'away/o.xml', 'fifo'])
def test_includes_stay_inside_in_whatever_case(places, tag, file):
    text = f'<mujoco><{tag} file="{file.format(outside=places.outside)}"/></mujoco>'
    places.write('a.xml', text)
    for read, given_ in ((places.text, text), (places.file, 'a.xml')):
        message = refused(read, given_)
        assert message.startswith(('import_failed', 'missing_assets')) and 'secret' not in message


@pytest.mark.parametrize(('text', 'says'), HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_are_refused_before_mujoco_sees_them(places, text, says):
    message = refused(places.text, text)
    assert message.startswith('import_failed') and says in message


def test_sizes_are_bounded_before_anything_is_parsed(places, monkeypatch):
    monkeypatch.setattr(limits, 'CHARACTERS', 100)
    assert '101 requested, at most 100' in refused(places.text, '<mujoco>'.ljust(101))
    places.write('long.xml', ' ' * 200)
    places.write('a.xml', '<mujoco><include file="long.xml"/></mujoco>')
    assert '200 bytes, at most 100' in refused(places.file, 'a.xml')
    monkeypatch.setattr(limits, 'CHARACTERS', 10_000)
    monkeypatch.setattr(limits, 'ELEMENTS', 10)
    assert 'at most 10' in refused(places.text, world('<geom/>' * 9))
    monkeypatch.setattr(limits, 'FILE_BYTES', 20)
    assert 'at most 20' in refused(places.text, asset('<mesh name="m" file="meshes/m.obj"/>'))


def test_documents_do_not_multiply(places):
    places.write('self.xml', '<mujoco><include file="self.xml"/></mujoco>')
    places.write('a.xml', '<mujoco>' + '<include file="b.xml"/>' * 30 + '</mujoco>')
    places.write('b.xml', '<mujoco>' + '<include file="c.xml"/>' * 30 + '</mujoco>')
    places.write('c.xml', '<mujoco><option/></mujoco>')
    deep = '<body>' * 100 + '<include file="deep.xml"/>' + '</body>' * 100
    places.write('deep.xml', f'<mujoco>{deep}</mujoco>')
    places.write('models.xml', asset('<model file="models.xml"/>'))
    for name in ('self.xml', 'a.xml', 'models.xml'):
        assert 'documents of one model' in refused(places.file, name)
    assert 'nested elements' in refused(places.file, 'deep.xml')


def test_a_urdf_is_cut_to_what_mujoco_reads(places):
    text = URDF.format(root='base', joint='fixed').replace(
        '</robot>',
        '<gazebo><plugin filename="libx.so"><file>/etc/passwd</file></plugin></gazebo>'
        '<transmission name="t"/></robot>',
    )
    xml = places.text(text).xml
    assert 'gazebo' not in xml and 'passwd' not in xml and 'transmission' not in xml
    assert mujoco.MjSpec.from_string(xml).compile().ngeom == 3


names = st.sampled_from(
    [*words.ELEMENTS, 'Include', 'include', 'Mesh', 'x', 'robot', 'link', 'mujoco', 'asset']
)
attributes = st.dictionaries(
    st.sampled_from(
        ['file', 'File', 'filename', *words.SIDES, *words.FOLDERS, 'name', 'count', 'content_type',
         'nrow', 'width', 'plugin', 'size', 'class', 'model', 'url']
    ),
    st.sampled_from(
        ['', 'meshes/m.obj', '../outside/o.obj', '/etc/passwd', 'away/o.obj', 'fifo', 'm.obj',
         'package://meshes/m.obj', '1', '2', '99999999999', 'true', 'model/obj', 'mujoco.pid']
    ),
    max_size=3,
)  # fmt: skip
trees = st.recursive(
    st.builds(lambda tag, keys: (tag, keys, []), names, attributes),
    lambda inner: st.builds(lambda *parts: parts, names, attributes, st.lists(inner, max_size=4)),
    max_leaves=12,
)


def build(tree):
    tag, keys, inner = tree
    element = ElementTree.Element(tag, keys)
    element.extend(build(item) for item in inner)
    return element


@settings(max_examples=examples(150), deadline=None)
@example(tree=('material', {'assetdir': '', 'file': 'm.obj'}, []), root='robot', including=False)
@example(
    tree=('mujoco', {}, [('option', {}, [('mesh', {'file': 'meshes/m.obj'}, [])])]),
    root='robot',
    including=False,
)
@given(tree=trees, root=st.sampled_from(['mujoco', 'robot']), including=st.booleans())
def test_a_rewritten_document_names_known_files_only(fixed_places, tree, root, including):
    element = ElementTree.Element(root)
    element.append(build(tree))
    text = ElementTree.tostring(element, encoding='unicode')
    files = ClientFiles(DataFolder(fixed_places.data))
    try:
        bundle = Document(files, fixed_places.data, including).read(text, 'xml')
    except OpError:
        return
    held = {*bundle.parsed, *bundle.compiled, ''}
    parsed = [
        text.decode() for name, text in bundle.parsed.items() if name.endswith(('.xml', '.urdf'))
    ]
    for written in (bundle.xml, *parsed):
        for item in ElementTree.fromstring(written).iter():
            assert item.tag.lower() != 'include'
            for key, value in item.attrib.items():
                if key.lower().startswith('file'):
                    assert value in held, (item.tag, key, value)
                assert key not in words.FOLDERS or (key, value) == ('strippath', 'false')
