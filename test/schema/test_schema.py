# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What users write: every value is read as its type or refused at its place."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import SchemaError


@dataclass(frozen=True)
class Wheel:
    radius: float = key(text='Radius.', above=0.0, unit='m')
    name: str = key('', 'Name.', longest=8)


@dataclass(frozen=True)
class Drive:
    kind: str = key('differential', 'Kind.', choices=('differential', 'omni'))
    rate: float | None = key(None, 'Rate.', low=0.0, high=100.0)
    wheels: tuple[Wheel, ...] = key((), 'Wheels.')
    pose: tuple[float, float, float] = key((0.0, 0.0, 0.0), 'Pose.')
    gains: dict[str, float] = key(factory=dict, text='Gains.', low=0.0)
    ports: list[int] = key(factory=list, text='Ports.', low=1, high=65535)
    on: bool = key(True, 'Switch.')

    def __post_init__(self):
        if self.kind == 'omni' and len(self.wheels) < 3:
            raise KeyProblem('wheels', 'an omni drive has three wheels or more')


def test_a_whole_section_is_read():
    value = {
        'kind': 'omni',
        'rate': '1e1',
        'wheels': [{'radius': 1}, {'radius': 0.5, 'name': 'b'}, {'radius': 2.0}],
        'pose': [1, 2, 3],
        'gains': {'hip': 3},
        'ports': [80],
    }
    drive = read(Drive, Place(value))
    assert drive.rate == 10.0 and drive.pose == (1.0, 2.0, 3.0) and drive.gains == {'hip': 3.0}
    assert drive.wheels[1] == Wheel(0.5, 'b') and drive.ports == [80]


@pytest.mark.parametrize(
    ('value', 'message'),
    [
        ({'knd': 'omni'}, "unknown key 'knd'; did you mean 'kind'? (valid: kind, rate, wheels"),
        ({'kind': 'onmi'}, "kind: 'onmi' is unknown; did you mean 'omni'?"),
        ({'kind': 'omni'}, 'an omni drive has three wheels or more'),
        ({'rate': -1}, 'rate: must be a finite number >= 0 and <= 100, not -1'),
        ({'wheels': [{'radius': 0}]}, 'wheels[0].radius: must be a finite number > 0 (m), not 0'),
        ({'wheels': [{}]}, "wheels[0]: the key 'radius' is missing"),
        ({'wheels': [{'radius': 1, 'name': 'x' * 9}]}, 'wheels[0].name: must be a string of at'),
        ({'pose': [1, 2]}, 'pose: must be a list of 3 numbers, not [1, 2]'),
        ({'ports': [0]}, 'ports[0]: must be a whole number >= 1 and <= 65535, not 0'),
        ({'ports': [True]}, 'ports[0]: must be a whole number >= 1 and <= 65535, not True'),
        ({'on': 1}, 'on: must be true or false, not 1'),
    ],
)
def test_a_mistake_is_named_with_its_place(value, message):
    with pytest.raises(SchemaError) as caught:
        read(Drive, Place(value, source='drive.yaml'))
    assert str(caught.value).startswith('drive.yaml: ') and message in str(caught.value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*Drive.__dataclass_fields__, 'radius', 'x']), inner)
    ),
    max_leaves=12,
)


@given(plain)
def test_any_value_is_read_or_refused(value):
    try:
        drive = read(Drive, Place(value))
    except SchemaError:
        return
    assert all(wheel.radius > 0 for wheel in drive.wheels)
    assert drive.rate is None or 0 <= drive.rate <= 100
