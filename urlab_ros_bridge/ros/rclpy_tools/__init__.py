# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Functions that rclpy lacks.

No other package works around it:

- `overrides`: no public way to see parameters that are set, but not declared;
- `deferred_service`: a service can be answered only when its callback returns;
- `actions`: a goal runs in one callback from its beginning to its end;
- `message_info`: executors pass the info of a message in different ways;
- `executor`: an error in a callback ends `spin`, and the events executor is optional;
- `endpoints`: publishers that another thread destroys while they are listed.

An invalid lifecycle transition raises in rclpy's callback: it is logged and stays unanswered.
"""
