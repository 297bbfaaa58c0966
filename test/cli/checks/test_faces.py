# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from urlab_ros_bridge.cli.checks.faces import FACES
from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.checks.python import OPTIONAL
from urlab_ros_bridge.cli.checks.python import PACKAGES
from urlab_ros_bridge.cli.checks.ros import INTERFACES
from urlab_ros_bridge.cli.commands import command_names

SUBJECTS = {row[0] for row in (*PACKAGES, *OPTIONAL)} | {'MuJoCo', 'rclpy', *INTERFACES}


def test_every_command_but_the_doctor_is_in_one_face():
    names = [name for face in FACES for name in face.name.split(', ')]
    assert sorted([*names, 'doctor']) == command_names()


@pytest.mark.parametrize('face', FACES, ids=lambda face: face.name)
def test_a_face_works_when_all_it_needs_is_right(face):
    assert set(face.needs) <= SUBJECTS
    found = [Finding(Severity.OK, subject, '') for subject in SUBJECTS]
    assert face.missing(found) == []
    for subject in face.needs:
        level = {True: Severity.FAIL, False: Severity.OK}
        broken = [Finding(level[each.subject == subject], each.subject, '') for each in found]
        assert face.missing(broken) == [subject]


def test_without_rclpy_the_messages_are_not_counted_too():
    bridge = next(face for face in FACES if face.name == 'bridge')
    core = [Finding(Severity.OK, row[0], '') for row in PACKAGES]
    assert bridge.missing([*core, Finding(Severity.WARN, 'rclpy', '')]) == ['rclpy']
