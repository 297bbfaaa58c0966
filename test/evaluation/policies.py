# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Policies and hooks for the tests."""

import threading

import numpy as np


class Hold:
    """Keeps the joints where an episode found them."""

    def __init__(self):
        self.resets = 0

    def reset(self, seen):
        self.resets += 1
        self.start = seen.proprios['joint_pos'].copy()

    def __call__(self, seen):
        return self.start


def chunks(seen):
    return np.tile(seen.proprios['joint_pos'], (3, 1))


def small(seen):
    return [0.0]


def broken(seen):
    raise KeyError('eyes')


def judge(view):
    height = float(view.position('quadruped_base_link')[2])
    return {'reward': 0.5, 'success': view.time > 0.3, 'height': np.float32(height)}


def half(view):
    return 0.25


def unsendable(view):
    return {'reward': 1.0, 'view': view}


def late(view):
    """Judge whatever there is to see a success."""
    return {'reward': 1.0, 'success': view.time > 1.0}


let_go = threading.Event()


def slow(view):
    """Judge when the test says so."""
    let_go.wait(150.0)
    return {}
