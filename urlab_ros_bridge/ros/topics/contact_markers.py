# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts as markers: a dot for each, and an arrow for its force."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from visualization_msgs.msg import Marker

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.ros.topics.markers import marker

DOTS, FORCES = 'contacts', 'forces'
_DOT = 0.02
_DOT_COLOR = (0.1, 0.6, 1.0, 0.9)
_ARROW = (0.012, 0.03, 0.0)  # shaft and head diameter, m
_ARROW_COLOR = (1.0, 0.45, 0.1, 0.9)
# Shorter arrows (m) are not worth drawing.
_SHORTEST = 1e-3


def contact_markers(
    frame: str, stamp_ns: int, contacts: Sequence[Contact], metres_per_newton: float
) -> list[Marker]:
    """
    Return the markers of contacts.

    MuJoCo's normal points from the first geom to the second, and the force is what the second one
    feels.  The contact's own axes beside the normal are not on the wire, so the arrow shows the
    normal force.
    """
    found = []
    for number, contact in enumerate(contacts):
        x, y, z = contact.pos.tolist()
        found.append(
            marker(
                frame,
                DOTS,
                number,
                Marker.SPHERE,
                pose=Pose((x, y, z)),
                scale=(_DOT, _DOT, _DOT),
                color=_DOT_COLOR,
                stamp_ns=stamp_ns,
            )
        )
        force = float(contact.force[0]) * metres_per_newton
        if force > _SHORTEST and np.isfinite(force):
            found.append(
                marker(
                    frame,
                    FORCES,
                    number,
                    Marker.ARROW,
                    scale=_ARROW,
                    color=_ARROW_COLOR,
                    points=(contact.pos, contact.pos + force * contact.normal),
                    stamp_ns=stamp_ns,
                )
            )
    return found
