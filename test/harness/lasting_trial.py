# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One process that tries models for all stages of a test run: to start it imports MuJoCo."""

from functools import cache

from urlab_ros_bridge.sim.model.client_models.trial import Trial


class LastingTrial(Trial):
    """Ends with the test run, and not with a host."""

    def close(self):
        """Stay: the hosts of other tests use it too."""

    def forget(self):
        """Forget what has passed, as one that is new."""
        self._passed.clear()


@cache
def _lasting():
    return LastingTrial()


def with_lasting_trial(host):
    """Have the common process try the models of a host; return the host."""
    _lasting().forget()
    host.client_models._trial = _lasting()
    return host
