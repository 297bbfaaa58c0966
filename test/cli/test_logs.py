# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The log of a program cannot be flooded, and says what it leaves out."""

import io
import logging

import pytest

from urlab_ros_bridge.cli import logs


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(logs.time, 'monotonic', lambda: now[0])
    return now


@pytest.fixture
def logger(clock):
    """Return a logger that is set up as in a program, and give back the one there was."""
    logger = logging.getLogger(logs.LOGGER)
    before = logger.handlers, logger.level, logger.propagate
    yield logs.set_up_logging('debug')
    logger.handlers, logger.level, logger.propagate = before


@pytest.fixture
def written(logger):
    """Return a function that returns the lines since it was called last."""
    (handler,) = logger.handlers
    handler.setStream(io.StringIO())

    def lines():
        return handler.setStream(io.StringIO()).getvalue().splitlines()

    return lines


def test_a_flood_is_cut_off_and_counted(logger, clock, written):
    def complain(peer):
        logger.warning('%s: is no client, 100 %% sure', peer)

    for number in range(1000):
        complain(number)
    logger.warning('another place')
    lines = written()
    assert len(lines) == logs.BURST + 1
    assert lines[logs.BURST - 1].endswith(f'{logs.BURST - 1}: is no client, 100 % sure')
    assert lines[-1].endswith('another place')
    clock[0] += 1.0 / logs.RATE
    complain('late')
    complain('later')
    (line,) = written()
    left_out = 1000 - logs.BURST
    assert line.endswith(
        f'late: is no client, 100 % sure ({left_out} more like this were omitted)'
    )
    clock[0] += 1e6  # however long it is quiet, no more may come at once than at first
    for number in range(1000):
        complain(number)
    assert len(written()) == logs.BURST


def test_what_is_asked_for_and_what_is_not_much_is_all_there(logger, clock, written):
    for number in range(1000):
        logger.debug('step %d', number)
        if number % 10 == 0:
            clock[0] += 1.0 / logs.RATE
            logger.error('tenth')
    lines = written()
    assert len(lines) == 1100 and not any('omitted' in line for line in lines)
