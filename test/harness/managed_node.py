# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A lifecycle node with a context and a thread of its own, and its transitions."""

import threading

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.rclpy_tools.executor import spin_once

CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


class ManagedNode:
    """A node of a class, in the domain of a listener, which asks for its transitions."""

    def __init__(self, kind, name, listener, parameters, **options):
        self.listener, self._name = listener, name
        self.context = Context()
        rclpy.init(context=self.context, domain_id=listener.context.get_domain_id())
        self.node = kind(
            context=self.context,
            parameter_overrides=[Parameter(key, value=value) for key, value in parameters.items()],
            **options,
        )
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            spin_once(self._executor, self.node, 0.1)

    def change(self, transition):
        request = {'transition': Transition(id=transition)}
        return self.listener.call(ChangeState, f'/{self._name}/change_state', **request).success

    def close(self):
        self._stop.set()
        self._thread.join()
        self.node.stop()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
