# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From OpenGL's pixels to the wire's: depth in metres."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np

from urlab_ros_bridge.sim.cameras.renderer import frames

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)


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
