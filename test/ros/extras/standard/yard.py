# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The small world of these tests, served and bridged in this process."""

from pathlib import Path

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
from bundled_server import start_server

from urlab_ros_bridge.ros.extras.standard import ENTRIES
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

WORLD = Path(__file__).with_name('world') / 'yard.yaml'
OK = 1


def fitted(kind, fields):
    """Return the fields of a request of version 1 as those of the version that is installed."""
    own, fields = kind.Request.get_fields_and_field_types(), dict(fields)
    if 'entity_resource' in own:
        texts = {name: fields.pop(name) for name in ('uri', 'resource_string') if name in fields}
        resource = load_interface('simulation_interfaces/msg/Resource')
        fields['entity_resource'] = resource(**texts)
    for name in ('set_pose', 'set_twist'):
        if name in own:
            fields.setdefault(name, True)
    return fields


class Yard:
    """A server on free ports, and a bridge and a listener on a domain of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.server = start_server(model=WORLD, cameras='off', data_dir=folder)
        domain = free_domain()
        self.listener = Listener(domain)
        self.bridge = Bridge(domain, self.server, data_dir=str(folder))
        self.types = {row.name: load_interface(row.type_name) for row in ENTRIES}
        wait_until(lambda: self.bridge.settled, 20.0)

    def ask(self, name, /, **fields):
        """Call a service, and return its response."""
        kind = self.types[name]
        return self.listener.call(kind, f'/{name}', wait=20.0, **fitted(kind, fields))

    def well(self, name, /, **fields):
        """Call a service that must say OK."""
        response = self.ask(name, **fields)
        assert response.result.result == OK, response.result
        return response

    @property
    def client(self):
        return self.bridge.link.client

    def close(self):
        self.bridge.close()
        self.listener.close()
        self.server.stop()
