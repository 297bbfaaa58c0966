# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From OpenGL's pixels to the wire's: laws of the conversions."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np

from urlab_ros_bridge.sim.cameras.renderer import frames

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)
WORDS = SHAPES.flatmap(lambda shape: hnp.arrays(np.uint32, shape))


@given(WORDS)
def test_colours_are_flipped_and_opaque(words):
    out = np.empty_like(words)
    frames.bgra(words, out)
    parts = out.view(np.uint8).reshape(*out.shape, 4)
    source = words.view(np.uint8).reshape(*out.shape, 4)
    assert (parts[..., 3] == 255).all()
    assert (parts[::-1, :, :3] == source[..., :3]).all()


@given(
    st.floats(0.001, 1.0), st.floats(2.0, 1e4), st.booleans(),
    SHAPES.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=st.floats(0.01, 0.99))),
)  # fmt: skip
def test_metres_undo_the_projection(near, far, orthographic, share):
    z = near + share * (far - near)
    if orthographic:
        depth = (far - z) / (far - near)
    else:
        depth = near * (far - z) / (z * (far - near))
    out = np.empty(z.shape, np.float32)
    frames.metres(depth.astype(np.float32), near, far, orthographic, out)
    # A float32 buffer holds perspective depth far away only so well.
    error = 1e-6 * (z * far / near * 1e-3 + far) + 1e-5 * z
    assert (np.abs(out[::-1] - z) <= np.maximum(error, 1e-3 * z)).all()


@given(SHAPES.flatmap(lambda s: hnp.arrays(np.uint32, s, elements=st.integers(0, 2**24 - 1))))
def test_id_colours_become_labels(ids):
    red, green, blue = ids & 0xFF, ids >> 8 & 0xFF, ids >> 16
    words = (blue | green << 8 | red << 16 | 0xFF000000).astype(np.uint32)
    table = np.arange(1000, dtype=np.uint32) * 7 + 3
    out = np.empty_like(words)
    frames.labelled(words, table, out)
    expected = np.where(ids < 1000, ids * 7 + 3, table[0])
    assert (out[::-1] == expected).all()
