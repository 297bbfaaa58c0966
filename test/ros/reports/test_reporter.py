# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import os

import pytest

from urlab_ros_bridge.ros.reports.reporter import offer_line


def test_a_reader_that_is_stuck_is_not_waited_for():
    reader, writer = os.pipe()
    line = 'x' * 1000
    written = 0
    while offer_line(writer, line):
        written += 1
    assert not offer_line(writer, line)
    assert os.read(reader, 2**20).decode() == f'{line}\n' * written  # whole lines
    assert offer_line(writer, line)
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        offer_line(writer, line)
    os.close(writer)
