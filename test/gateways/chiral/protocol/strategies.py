# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Random messages of the protocol."""

from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np

from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.protocol.framing import DTYPES

finite = st.floats(allow_nan=False, allow_infinity=False)
stamps = finite | st.integers(-(2**62), 2**62)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | finite | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
maps = st.dictionaries(st.text(max_size=8), values, max_size=4)
float32s = hnp.arrays(np.float32, st.integers(0, 12))


@st.composite
def views(draw, name):
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kind = DTYPES[draw(st.sampled_from(('uint8', 'uint16', 'float32')))]
    depth = st.none() | hnp.arrays(np.float32, (height, width))
    return CameraView(
        name,
        draw(stamps),
        draw(hnp.arrays(np.float64, (3, 3), elements=finite)),
        draw(hnp.arrays(np.float64, (4, 4), elements=finite)),
        draw(hnp.arrays(kind, (height, width, draw(st.sampled_from((1, 3)))))),
        draw(depth),
    )


@st.composite
def observations(draw):
    names = draw(st.lists(st.text(max_size=6), unique=True, max_size=3))
    return Observation(
        draw(stamps),
        [draw(views(name)) for name in names],
        draw(st.dictionaries(st.text(max_size=6), float32s, max_size=3)),
        draw(maps),
        draw(maps),
    )
