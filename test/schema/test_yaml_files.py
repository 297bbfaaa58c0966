# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""YAML means the same whether libyaml or Python reads it, and both refuse what multiplies."""

from hypothesis import given
from hypothesis import strategies as st
import pytest
import yaml

from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema import yaml_files

LOADERS = [yaml_files.PythonLoader]
if yaml.__with_libyaml__:
    LOADERS.append(yaml_files.LibyamlLoader)


numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | st.dates() | st.text(max_size=12)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(documents, st.booleans() | st.none())
def test_both_loaders_read_what_was_written(value, flow):
    text = yaml.safe_dump(value, default_flow_style=flow).encode()
    for loader in LOADERS:
        assert yaml.load(text, Loader=loader) == value


BOMB = b'a0: &a0 {%s}\n' % b', '.join(b'k%d: 1' % number for number in range(40))
BOMB += b''.join(
    b'a%d: &a%d {<<: [%s]}\n' % (level, level, b', '.join([b'*a%d' % (level - 1)] * 10))
    for level in range(1, 9)
)


@pytest.mark.parametrize('loader', LOADERS)
@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (b'a: 1\nb: 2\na: 3', "the key 'a' appears twice"),
        (b'[{a: 1, a: 1}]', "the key 'a' appears twice"),
        (BOMB, 'a mapping has more than 4096 keys'),
        (b'[' * 100_000, 'is nested too deeply'),
        (b'a: !!python/object/apply:os.getcwd []', 'could not determine a constructor'),
        (b'a: \xff', 'unacceptable character'),
        (b'a: *nobody', 'found undefined alias'),
        (b'x' * (yaml_files.MAX_BYTES + 1), 'is larger than'),
    ],
)
def test_both_loaders_refuse_the_same_files(tmp_path, monkeypatch, loader, text, message):
    monkeypatch.setattr(yaml_files, 'LOADER', loader)
    path = tmp_path / 'some.yaml'
    path.write_bytes(text)
    with pytest.raises(SchemaError) as caught:
        read_yaml(path)
    assert message in str(caught.value)
