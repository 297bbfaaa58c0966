# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph: changes lead to the same scene as a full message."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from simspark_client.scene_view import SceneView

from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import fixed
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import light
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import mesh_file
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import moving
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import primitive
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SceneGraph
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import THRESHOLD
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose

WHITE = (1.0, 1.0, 1.0, 1.0)
unit = st.floats(-1, 1)
poses = st.tuples(
    st.tuples(*[st.floats(-20, 20)] * 3), st.tuples(unit, unit, unit, unit).map(normalize)
)
worlds = st.lists(poses, min_size=4, max_size=4)


def graph():
    """A tree with every kind of node; bodies 0 to 3, of which 3 has no mesh."""
    return SceneGraph(
        [
            light(WHITE, WHITE, WHITE),
            fixed(Pose((1.0, 2.0, 3.0)), mesh_file('models/x.obj', 2.0, 'a', 'b')),
            moving(0, primitive('StdUnitBox', (1.0, 2.0, 3.0), 'matGrey', (1.0, 0.0, 0.5, 0.5))),
            fixed(
                Pose(),
                moving(1, primitive('StdUnitSphere', (1.0, 1.0, 1.0), 'm', marks='x',
                                    visible=False)),
                moving(2, fixed(Pose(), primitive('StdUnitCylinder 1 1', (1.0, 1.0, 1.0), 'm'))),
                moving(3),
            ),
            fixed(Pose()),
        ]
    )  # fmt: skip


def arrays(world):
    positions = np.array([position for position, _ in world])
    return positions, np.array([matrix_of(quaternion) for _, quaternion in world])


def message(kind, nodes):
    return b'((time 0))(%b 0 1)(%b)' % (kind, nodes)


def flat(nodes):
    found = []
    for node in nodes:
        found.append((node.kind, node.matrix, node.details))
        found += flat(node.children)
    return found


@given(st.lists(st.tuples(worlds, st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_a_viewer_that_misses_messages_knows_what_is_to_within_the_threshold(frames):
    made, view = graph(), SceneView()
    made.update(*arrays(frames[0][0]))
    seen = known = made.seen()
    view.take(message(b'RSG', made.full(seen)))
    for world, selected, arrives in frames:
        made.update(*arrays(world))
        marks = frozenset({'x'}) if selected else frozenset()
        known = made.seen(known, marks)
        if not arrives:
            continue
        view.take(message(b'RDS', made.changes(seen, known)))
        seen = known
        whole = SceneView()
        whole.take(message(b'RSG', made.full(made.seen(None, marks))))
        bodies = [whole.nodes[2], *whole.nodes[3].children]
        for node, place, axes in zip(bodies, *arrays(world), strict=True):
            np.testing.assert_allclose(node.matrix[:3, :3], axes, atol=6e-5)
            np.testing.assert_allclose(node.matrix[:3, 3], place, atol=1e-4)
        for (kind, matrix, details), (same, exact, others) in zip(
            flat(view.nodes), flat(whole.nodes), strict=True
        ):
            assert kind == same and details == others
            assert np.abs(matrix - exact).max() <= THRESHOLD + 2e-4


def test_a_pose_that_is_not_a_number_is_written_as_one():
    made = graph()
    made.update(np.full((4, 3), np.nan), np.full((4, 3, 3), np.inf))
    text = made.full(made.seen())
    assert b'nan' not in text and b'inf' not in text
