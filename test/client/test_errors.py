# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every code of the wire has its exception class."""

import pickle

from urlab_ros_bridge.client import errors
from urlab_ros_bridge.client.errors import remote_error
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.wire.errors import ERROR_CODES


def test_every_code_has_a_class_of_its_name_that_survives_pickling():
    for code in (*ERROR_CODES, 'nav_failed'):
        error = remote_error(code, 'detail', 'step')
        name = ''.join(part.capitalize() for part in code.split('_'))
        assert type(error) is (RemoteError if code == 'nav_failed' else getattr(errors, name))
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and str(copy) == str(error) == f'step: {code}: detail'
        assert (copy.code, copy.message, copy.op) == (code, 'detail', 'step')
    assert len(RemoteError.__subclasses__()) == len(ERROR_CODES)


def test_timeouts_are_timeouts_for_everybody():
    assert isinstance(remote_error('step_timeout', '', 'step'), TimeoutError)
    assert issubclass(errors.ConnectionLost, errors.RequestTimeout)
    assert issubclass(errors.RequestTimeout, TimeoutError)
