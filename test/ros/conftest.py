# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A small simulated world, and bridges to it."""

from functools import partial

import pytest


@pytest.fixture
def ros_node():
    """
    Return a function that makes a node: class, keywords -> node.

    Each has a context of its own; those of one domain find each other.
    """
    from domains import free_domain
    import rclpy
    from rclpy.context import Context
    from rclpy.node import Node

    made, plain = [], partial(Node, 'subject')

    def make(kind=plain, domain=None, **arguments):
        context = Context()
        rclpy.init(context=context, domain_id=free_domain() if domain is None else domain)
        made.append((context, None))
        node = kind(context=context, **arguments)
        made[-1] = (context, node)
        return node

    yield make
    for context, node in reversed(made):
        if node is not None:
            node.destroy_node()
        context.try_shutdown()


@pytest.fixture
def small_server(keep):
    """Return a function that starts a server of the small world; all are closed at the end."""
    from small_world import SmallServer

    return lambda **options: keep(SmallServer(**options))


@pytest.fixture
def bridged(keep):
    """Return a function: server, parameters -> (bridge, listener) on a domain of their own."""
    from bridge_harness import start_bridged

    return partial(start_bridged, keep)


@pytest.fixture(scope='module')
def lasting_bridged(keep_all):
    """Return `bridged` for all tests of a module."""
    from bridge_harness import start_bridged

    return partial(start_bridged, keep_all)


@pytest.fixture
def bundled(bridged, keep):
    """Return a function: the server's config, parameters -> (server, bridge, listener)."""
    from bundled_server import start_server

    def start(config, **parameters):
        server = keep(start_server(**{'cameras': 'off', **config}))
        return server, *bridged(server, **parameters)

    return start
