# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The publisher of a stock server, which knows what is subscribed."""

import zmq


class Publisher:
    """
    An XPUB socket on a free port.

    :ivar topics: subscriptions read so far.
    """

    def __init__(self):
        self.socket = zmq.Context.instance().socket(zmq.XPUB)
        self.socket.linger = 0
        self.socket.rcvtimeo = 60_000
        self.port = self.socket.bind_to_random_port('tcp://127.0.0.1')
        self.endpoint = f'tcp://127.0.0.1:{self.port}'
        self.topics = set()

    def next_subscription(self):
        """Wait for a topic that is subscribed, or no longer; return it."""
        change = self.socket.recv()
        (self.topics.add if change[0] else self.topics.discard)(change[1:])
        return change[1:]

    def wait_for(self, *topics, gone=()):
        while not (self.topics >= set(topics) and not self.topics & set(gone)):
            self.next_subscription()

    def send(self, *parts):
        self.socket.send_multipart(parts)

    def close(self):
        self.socket.close(0)
