# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which source gets control of a robot, and which one loses it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.arbitration import GRIPPER
from urlab_ros_bridge.ros.commands.arbitration import JOINT_COMMANDS
from urlab_ros_bridge.ros.commands.arbitration import Stop
from urlab_ros_bridge.ros.commands.arbitration import TRAJECTORY
from urlab_ros_bridge.ros.commands.velocity import CMD_VEL
from urlab_ros_bridge.ros.program.features import Settings

SECOND = 10**9
SOURCES = (TRAJECTORY, GRIPPER, JOINT_COMMANDS, CMD_VEL)


def arbiter(stop=None, **settings):
    return Arbiter(Settings(**settings), stop or Stop())


def test_an_e_stop_ends_all_claims_and_refuses_new_ones():
    stop = Stop()
    control, lost = arbiter(stop), []
    control.claim(TRAJECTORY, [1, 2], 0, lost.append)
    stop.reason = 'e-stop'
    control.clear()
    assert not lost and control.report(0) == {}
    for source in SOURCES:
        with pytest.raises(CommandRejected, match='e-stop'):
            control.claim(source, [1], 10**9)
    stop.reason = ''
    control.claim(CMD_VEL, [1], 10**9)


CLAIMS = st.lists(
    st.tuples(st.sampled_from(SOURCES), st.sets(st.integers(0, 3), min_size=1), st.integers(0, 9)),
    max_size=30,
)


@given(CLAIMS, st.sampled_from(['priority', 'last']))
def test_a_part_has_one_holder_which_only_a_higher_source_or_by_rule_the_last_takes(claims, rule):
    control = arbiter(joint_command_lock=2.0, cmd_vel_timeout=1.0, arbitration=rule)
    now, holders, lost = 0, {}, []
    for number, (source, parts, wait) in enumerate(claims):
        now += wait * SECOND // 3
        holders = {part: each for part, each in holders.items() if now < each[1]}
        others = {holders[part] for part in parts if part in holders} - {
            each for each in holders.values() if each[0] is source
        }
        may_take = rule == 'last' or all(o[0].priority < source.priority for o in others)
        lost.clear()
        try:
            control.claim(source, parts, now, lambda by, number=number: lost.append((number, by)))
        except CommandRejected:
            assert not may_take and not lost
        else:
            assert may_take
            assert set(lost) == {(claim, source.name) for _, _, claim in others}
            until = now + {JOINT_COMMANDS: 2 * SECOND, CMD_VEL: SECOND}.get(source, 10**18)
            holders.update(dict.fromkeys(parts, (source, until, number)))
        assert control.report(now) == Counter(each[0].name for each in holders.values())
