# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A bundled world and its bridge in this process, with the parameters of `urlab up`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import LATCHED
from bridge_harness import LISTEN
from bridge_harness import Listener
from bridge_harness import wait_until
from bundled_server import ports_of
from bundled_server import start_server
from tf2_msgs.msg import TFMessage
import yaml

import urlab_ros_bridge
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.client import Client

CONFIG = Path(urlab_ros_bridge.__file__).parents[1] / 'config'


def file_of(argument, world):
    """Return the file that `urlab up` chooses for an argument in a world."""
    row = arguments_of(SuiteArguments)[argument]
    return Path(row.file_for({argument: '', 'model': '', 'world': world}))


def interface(name):
    """Return the class of a message or service, of `nav_msgs/msg/Odometry` for example."""
    package, kind, short = name.split('/')
    return getattr(import_module(f'{package}.{kind}'), short)


def parameters_of(world):
    """Return the parameters that `urlab up` gives to the bridge, but for the ports."""
    text = file_of('params_file', world).read_text()
    found = flat(yaml.safe_load(text)['/**']['ros__parameters'])
    return {name: value for name, value in found.items() if not name.endswith('_port')}


def flat(values, start=''):
    """Return nested parameters by their names with dots."""
    found = {}
    for name, value in values.items():
        found |= (
            flat(value, f'{start}{name}.') if isinstance(value, dict) else {start + name: value}
        )
    return found


class RunningWorld:
    """
    :ivar robots: namespace of each robot with a trailing slash, or empty -> prefix.
    :ivar topics: name -> types; `services`: the same.
    """

    def __init__(self, world):
        self.name = world
        self._server = start_server(world=world)
        with Client(**ports_of(self._server), shared=True) as client:
            handshake = client.handshake
        robots = handshake.articulations
        self.robots = {'' if len(robots) == 1 else f'{prefix}/': prefix for prefix in robots}
        self._cameras = len(handshake.global_cameras) + sum(
            len(robot.cameras) for robot in robots.values()
        )
        domain = free_domain()
        self.listener = Listener(domain)
        self._bridge = Bridge(domain, self._server, **parameters_of(world))
        self._transforms = [
            self.listener.listen(TFMessage, '/tf'),
            self.listener.listen(TFMessage, '/tf_static', LATCHED),
        ]
        wait_until(lambda: all(self._transforms))
        # To ask the graph costs some milliseconds.
        wait_until(self._is_known, every=0.2)
        self.topics = dict(self.listener.node.get_topic_names_and_types())
        self.services = dict(self.listener.node.get_service_names_and_types())
        moving = {f'{space}odom' for space in self.robots if f'/{space}odom' in self.topics}
        wait_until(lambda: moving <= self.roots().keys())

    def _is_known(self):
        """Return whether robots and cameras have their topics, and the listener knows all."""
        node, names = self._bridge.node, dict(self.listener.node.get_topic_names_and_types())
        cameras = [name for name in names if name.endswith('/camera_info')]
        wanted = {name.replace('/camera_info', '/image_raw') for name in cameras}
        wanted |= {f'/{space}robot_description' for space in self.robots}
        wanted |= {end.topic_name for end in (*node.publishers, *node.subscriptions)}
        services = {service.service_name for service in node.services}
        known = dict(self.listener.node.get_service_names_and_types())
        return len(cameras) == self._cameras and wanted <= set(names) and services <= set(known)

    def roots(self):
        """Return the root of the tree of each frame."""
        parents = {
            transform.child_frame_id: transform.header.frame_id
            for messages in self._transforms
            for message in list(messages)
            for transform in message.transforms
        }
        found = {frame: frame for frame in {*parents, *parents.values()}}
        for frame in found:
            while found[frame] in parents:
                found[frame] = parents[found[frame]]
        return found

    def set_paused(self, paused):
        engine = self._server.simulation.engine
        with engine.lock:
            if engine.run.set_paused(paused):
                engine.state_changed()

    def publisher_qos(self, topic):
        """Return the offered quality of service."""
        (info,) = self.listener.node.get_publishers_info_by_topic(topic)
        return info.qos_profile

    def first(self, message_type, topic, latched, timeout=10.0):
        """Return the first message that a viewer would get."""
        messages = self.listener.received.get(topic)
        if messages is None:
            messages = self.listener.listen(message_type, topic, LATCHED if latched else LISTEN)
        return wait_until(lambda: messages and messages[0], timeout)

    def close(self):
        self._bridge.close()
        self.listener.close()
        self._server.stop()
