# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every code of the wire has its exception class."""

import pickle

import pytest

from urlab_ros_bridge.client import errors
from urlab_ros_bridge.client.errors import remote_error
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import UrlabError


def test_there_is_one_class_for_each_code():
    classes = RemoteError.__subclasses__()
    assert sorted(kind.code for kind in classes) == sorted(ERROR_CODES)


@pytest.mark.parametrize('code', ERROR_CODES)
def test_the_class_is_named_after_its_code(code):
    error = remote_error(code, 'detail', 'step')
    assert type(error).__name__ == ''.join(part.capitalize() for part in code.split('_'))
    assert getattr(errors, type(error).__name__) is type(error)
    assert (error.code, error.message, error.op) == (code, 'detail', 'step')
    assert isinstance(error, UrlabError)
    assert str(error) == f'step: {code}: detail'


def test_an_unlisted_code_gives_the_plain_class():
    error = remote_error('nav_failed', 'no such mesh', 'add_nav')
    assert type(error) is RemoteError and error.code == 'nav_failed'


def test_timeouts_are_timeouts_for_everybody():
    assert isinstance(remote_error('step_timeout', '', 'step'), TimeoutError)
    assert issubclass(errors.RequestTimeout, TimeoutError)
    assert issubclass(errors.ConnectionLost, errors.RequestTimeout)


@pytest.mark.parametrize('code', [*ERROR_CODES, 'nav_failed'])
def test_errors_survive_pickling(code):
    error = remote_error(code, 'detail', 'step')
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)
    assert (copy.code, copy.message, copy.op) == (code, 'detail', 'step')
