# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts, which are requested while they have subscribers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import threading
from typing import Any

from rclpy.node import Node
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.client.errors import UnknownOp
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.messages.urlab import CONTACTS as CONTACTS_TYPE
from urlab_ros_bridge.ros.messages.urlab import contacts_to_ros
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.parameters import MarkerParameters
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.topics.markers.contacts import contact_markers
from urlab_ros_bridge.ros.topics.markers.messages import deletion
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

DATA = 'contacts'
CONTACTS = 'markers/contacts'
MAX_CONTACTS = 256
# Period of checks for subscribers (s).
_IDLE_SECONDS = 0.5


@dataclass(frozen=True)
class PolledMarkerParameters:
    """How often contacts are requested, and how forces are drawn."""

    contact_marker_rate: float = key(
        10.0,
        'Rate at which contacts are requested while there are subscribers (Hz of wall time).',
        low=0.1,
        high=200.0,
        live=True,
    )
    contact_force_scale: float = key(
        0.005,
        'Arrow length of contact forces (m/N).',
        low=0.0,
        high=1000.0,
        live=True,
    )


class LiveMarkers(Part):
    """
    A thread that requests contacts and publishes them.

    It uses the session of services, so that it never delays commands or data.

    :ivar frame: of all markers; set it with every plan.
    """

    def __init__(
        self,
        node: Node,
        link: ServerLink,
        timeline: Timeline,
        settings: SettingsReader,
        log: Callable[[str, str], None],
    ) -> None:
        self.frame = settings(MarkerParameters).marker_frame or settings(NamesParameters).map_frame
        self._link = link
        self._timeline = timeline
        self._settings = settings
        self._log = log
        self._topics: list[_Topic] = []
        if not settings(ConnectionParameters).observe_only:
            self._topics = [
                _Topic(node, load_interface(CONTACTS_TYPE), DATA, self._contacts_message)
            ]
        if self._topics and settings(MarkerParameters).publish_markers:
            self._topics += [
                _MarkersTopic(node, CONTACTS, self._contact_markers),
            ]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name='markers', daemon=True)

    def start(self) -> None:
        """Start the thread, if there is anything for it to do."""
        if self._topics:
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join(2.0)

    def published(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Take another frame, and request again what an earlier server did not know."""
        self.frame = plan.scene.frame
        for topic in self._topics:
            topic.unknown = False

    def _run(self) -> None:
        while not self._stopped.is_set():
            busy = False
            if self._link.state.connected and self._timeline.stamp_ns is not None:
                busy = sum(self._publish_topic(topic) for topic in self._topics) > 0
            wait = (
                1.0 / self._settings(PolledMarkerParameters).contact_marker_rate
                if busy
                else _IDLE_SECONDS
            )
            self._stopped.wait(wait)

    def _publish_topic(self, topic: _Topic) -> bool:
        """Publish one topic; return whether it has subscribers."""
        if topic.unknown or not topic.publisher.get_subscription_count():
            return False
        try:
            topic.show(self.frame, self._timeline.stamp_ns or 0)
            topic.problem = ''
        except UnknownOp:
            topic.unknown = True
        except UrlabError as error:
            if str(error) != topic.problem:
                topic.problem = str(error)
                self._log('warning', f'{topic.publisher.topic_name}: {error}')
        return True

    def _contacts_message(self, stamp_ns: int) -> Any:
        found = self._link.client.get_contacts(MAX_CONTACTS)
        return contacts_to_ros(stamp_ns, self._settings(NamesParameters).map_frame, found)

    def _contact_markers(self, stamp_ns: int) -> list[Marker]:
        found = self._link.client.get_contacts(MAX_CONTACTS).contacts
        return contact_markers(
            self.frame, stamp_ns, found, self._settings(PolledMarkerParameters).contact_force_scale
        )


class _Topic:
    """One topic."""

    def __init__(self, node: Node, kind: type, name: str, make: Callable[[int], Any]) -> None:
        self.publisher = node.create_publisher(
            kind, name, qos.sensor(), qos_overriding_options=qos.overridable(node, name)
        )
        self.make = make
        self.unknown = False
        self.problem = ''

    def show(self, frame: str, stamp_ns: int) -> None:
        """Request and publish."""
        self.publisher.publish(self.make(stamp_ns))


class _MarkersTopic(_Topic):
    """A topic of markers, and what it shows now."""

    def __init__(self, node: Node, name: str, make: Callable[[int], list[Marker]]) -> None:
        super().__init__(node, MarkerArray, name, make)
        self._shown: set[tuple[str, int]] = set()

    def show(self, frame: str, stamp_ns: int) -> None:
        """Publish markers, and delete those that are gone."""
        markers = self.make(stamp_ns)
        now = {(each.ns, each.id) for each in markers}
        gone: list[Any] = [deletion(frame, *key) for key in sorted(self._shown - now)]
        if markers or gone:
            self.publisher.publish(MarkerArray(markers=[*markers, *gone]))
        self._shown = now


def attach(bridge: Bridge) -> Part:
    """Make the thread that requests contacts."""
    return LiveMarkers(
        bridge.node, bridge.part(ServerLink), bridge.timeline, bridge.settings, bridge.log
    )


_TYPE = ('visualization_msgs/msg/MarkerArray',)
TOPICS = (
    Topic(DATA, (CONTACTS_TYPE,), 'sensor', '', 'contact_marker_rate'),
    Topic(CONTACTS, _TYPE, 'sensor', '', 'contact_marker_rate', 'publish_markers'),
)
FEATURE = Feature(
    'contacts',
    PolledMarkerParameters,
    group='Robot description and markers',
    topics=TOPICS,
    attach=attach,
)
