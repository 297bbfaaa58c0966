# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions of other programs are searched in linear time, and refused with a reason."""

import sys
import time

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.schema.patterns import compile_pattern
from urlab_ros_bridge.schema.patterns import LONGEST

# Each of these takes an engine that backtracks longer than anybody waits.
EXPONENTIAL = ('([a-z_/]+)+#', '(a|aa)+$', '(a*)*b', '(.*a){20}b')
BAD = ('(', '(?=a)', r'(a)\1', '(' * 900, 'a' * (LONGEST + 1))


@pytest.mark.parametrize('text', EXPONENTIAL)
def test_no_expression_takes_long(text):
    began = time.process_time()
    assert compile_pattern(text).search('a' * 5000 + '!') is None
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize('text', BAD, ids=range(len(BAD)))
def test_invalid_patterns_are_refused_with_their_text(text):
    with pytest.raises(BadPattern) as refused:
        compile_pattern(text)
    assert repr(text)[:100] in str(refused.value) and len(str(refused.value)) < 600


@given(st.from_regex(r'[A-Za-z0-9_/ -]{0,20}', fullmatch=True), st.text(max_size=30))
def test_a_plain_text_needs_no_engine_and_finds_itself(text, other):
    pattern = compile_pattern(text)
    assert bool(pattern.search(other)) == (text in other)
    assert bool(pattern.fullmatch(other)) == (text == other)


def test_without_re2_patterns_are_refused_with_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 're2', None)
    with pytest.raises(BadPattern, match=r'google-re2.*urlab setup --with bags'):
        compile_pattern('odom|scan')
    assert compile_pattern('odom').fullmatch('odom')
