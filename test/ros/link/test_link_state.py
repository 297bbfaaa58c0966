# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
import math

import pytest

from urlab_ros_bridge.ros.link.link_state import describe
from urlab_ros_bridge.ros.link.link_state import LinkState
from urlab_ros_bridge.ros.link.link_state import Phase

LIVE = LinkState(Phase.CONNECTED, 'tcp://h:1', 'tcp://h:2', 'live', paused=False, robots=1)
TALKING, SILENT, NEVER = 0.1, 5.0, math.inf


@pytest.mark.parametrize(
    ('changes', 'silence', 'well'),
    [
        ({}, TALKING, True),
        ({'mode': 'direct'}, TALKING, True),
        ({'phase': Phase.OBSERVING}, TALKING, True),
        ({'phase': Phase.PREPARING}, SILENT, True),
        ({}, SILENT, False),
        ({}, NEVER, False),
        ({'mode': 'direct'}, SILENT, False),
        ({'robots': 0}, TALKING, False),
        ({'phase': Phase.PREPARING, 'problem': 'a bad name'}, SILENT, False),
        ({'phase': Phase.LOST}, SILENT, False),
        ({'phase': Phase.TAKEN}, TALKING, False),
    ],
)
def test_states_of_the_link_that_are_reported_as_good(changes, silence, well):
    found, text = describe(replace(LIVE, **changes), silence)
    assert found is well and changes.get('problem', '') in text
