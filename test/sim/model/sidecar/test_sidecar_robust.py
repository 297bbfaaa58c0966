# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sidecars that somebody made to hurt: a world or a `SidecarError`, soon."""

from __future__ import annotations

import math
from pathlib import Path
import re

from example_counts import examples
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
import pytest
from sidecar_rig import load
import yaml

from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec

PAGE = (Path(__file__).parents[4] / 'docs' / 'sidecar.md').read_text()
EXAMPLE = re.findall(r'```yaml\n(.*?)```', PAGE, re.DOTALL)[0]
PARSED = yaml.safe_load(EXAMPLE)


@pytest.mark.timeout(30)  # what explodes never ends
def test_anchors_and_merge_keys_work_but_do_not_explode(folder):
    world = load(
        folder,
        """
        articulations:
          - {prefix: a, model: arm.xml, cameras: &c {eye: {rate: 5}}}
          - {prefix: b, model: arm.xml, cameras: {<<: *c, ear: {rate: 1e-2}}}""",
    )
    assert world.articulations[1].cameras == {
        'eye': CameraSpec(rate=5.0),
        'ear': CameraSpec(rate=0.01),
    }
    bomb = (
        'k0: &k0 {'
        + ', '.join(f'a{i}: 1' for i in range(10))
        + '}\n'
        + ''.join(
            f'k{n}: &k{n} {{<<: [{", ".join([f"*k{n - 1}"] * 10)}]}}\n' for n in range(1, 12)
        )
    )
    with pytest.raises(SidecarError, match='more than 4096 keys'):
        load(folder, bomb)
    laughs = 'k0: &k0 [x]\n' + ''.join(
        f'k{n}: &k{n} [{", ".join([f"*k{n - 1}"] * 10)}]\n' for n in range(1, 30)
    )
    with pytest.raises(SidecarError):
        load(folder, laughs + 'scene: *k29')
    with pytest.raises(SidecarError, match='not'):
        load(folder, 'scene: &s [*s]')


def test_unreadable_files(tmp_path):
    for path in (tmp_path / 'missing.yaml', tmp_path):
        with pytest.raises(SidecarError, match='cannot be read'):
            load_sidecar(path)


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(alphabet='{}[]:-,&*!<> \n\'"?|#%01e.axy', max_size=60),
        st.sampled_from(
            [
                'a: !!int ""',
                'a: !!float ""',
                'a: !!bool x',
                '!!timestamp x',
                '<<: 3',
                'a: 2001-99-99',
                '? {a: 1}\n: 2',
                '? [1]\n: 2',
                '%TAG ! !',
            ]
        ),
    )
)
def test_any_bytes_give_a_world_or_a_sidecar_error(tmp_path, content):
    path = tmp_path / 'any.yaml'
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SidecarError):
        load_sidecar(path)


value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(re.findall(r'^ +(?:- )?(\w+):', EXAMPLE, re.MULTILINE)), value)
def test_any_value_for_any_key_is_taken_or_refused_with_its_place(folder, key, value):
    def replaced(node):
        if isinstance(node, dict):
            return {name: value if name == key else replaced(sub) for name, sub in node.items()}
        return [replaced(sub) for sub in node] if isinstance(node, list) else node

    try:
        world = load(folder, replaced(PARSED))
    except SidecarError as error:
        place = f'{error.path} {error.problem}'
        world = None
    if world is None:
        assert key in place or re.search(r'scene|articulations|YAML|describes', place)
    else:
        assert all(math.isfinite(part) for robot in world.articulations for part in robot.pos)
