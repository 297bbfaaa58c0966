# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts as numbers and as markers: they are not streamed, so they are requested."""

from __future__ import annotations

from dataclasses import dataclass
import threading
from typing import Any

from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.client.errors import UnknownOp
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.ops import Contacts
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.taps import TappedPublisher
from urlab_ros_bridge.ros.features.timeline import Mark
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.messages.contacts import CONTACTS as CONTACTS_TYPE
from urlab_ros_bridge.ros.messages.contacts import contacts_to_ros
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.topics.contact_markers import contact_markers
from urlab_ros_bridge.ros.topics.markers import delete_all
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

MAX_CONTACTS = 256
# Period of checks for subscribers (s).
_IDLE_SECONDS = 0.5
DATA = Topic('contacts', (CONTACTS_TYPE,), 'sensor', rate='contact_marker_rate')
MARKERS = Topic(
    'markers/contacts',
    ('visualization_msgs/msg/MarkerArray',),
    'sensor',
    rate='contact_marker_rate',
    switch='publish_markers',
)


@dataclass(frozen=True)
class ContactParameters:
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


class ContactTopics(Part):
    """
    A thread that requests contacts while they have subscribers.

    It uses the session of services, so that it never delays commands.
    """

    def __init__(self, bridge: Bridge) -> None:
        """Make the publishers, unless no request may be sent."""
        self._bridge = bridge
        self._link = bridge.part(ServerLink)
        self._world = bridge.part(CurrentWorld)
        publishers = Publishers(bridge.node)
        self._publishers: dict[Topic, TappedPublisher] = {}
        if not bridge.settings(ConnectionParameters).observe_only:
            self._publishers = {
                topic: publishers.of(topic, topic.name)
                for topic in (DATA, MARKERS)
                if bridge.all_settings().is_on(topic.switches)
            }
        self._marked = False
        self._unsupported = False
        self._problem = ''
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name='contacts', daemon=True)

    def start(self) -> None:
        """Start the thread, if there is anything for it to do."""
        if self._publishers:
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Try again: an earlier server did not support the request."""
        self._unsupported = False

    def _run(self) -> None:
        while not self._stopped.is_set():
            subscribed = [
                topic
                for topic, publisher in self._publishers.items()
                if publisher.get_subscription_count()
            ]
            mark = self._bridge.timeline.mark()
            polls = subscribed and self._link.state.connected and not self._unsupported
            if polls and mark.stamp_ns is not None:
                with self._bridge.errors.caught(FEATURE.name):
                    self._poll(mark, mark.stamp_ns, subscribed)
                rate = self._bridge.settings(ContactParameters).contact_marker_rate
                self._stopped.wait(1.0 / rate)
            else:
                self._stopped.wait(_IDLE_SECONDS)

    def _poll(self, mark: Mark, stamp_ns: int, subscribed: list[Topic]) -> None:
        try:
            found = self._link.client.get_contacts(MAX_CONTACTS)
            self._problem = ''
        except UnknownOp:
            self._unsupported = True
            return
        except UrlabError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                self._bridge.log('warning', f'contacts: {error}')
            return
        messages = {topic: self._message(topic, stamp_ns, found) for topic in subscribed}

        def publish() -> None:
            if self._bridge.timeline.epoch != mark.epoch or self._stopped.is_set():
                return
            for topic, message in messages.items():
                if message is not None:
                    self._publishers[topic].publish(message)

        self._bridge.stream_tasks.run_and_wait(publish)

    def _message(self, topic: Topic, stamp_ns: int, found: Contacts) -> Any | None:
        """Return the message for a topic; None if there is nothing to show or to clear."""
        settings = self._bridge.settings
        if topic is DATA:
            return contacts_to_ros(stamp_ns, settings(NamesParameters).map_frame, found)
        frame = self._world.plan.scene.frame
        scale = settings(ContactParameters).contact_force_scale
        markers = contact_markers(frame, stamp_ns, found.contacts, scale)
        had_markers, self._marked = self._marked, bool(markers)
        if not markers and not had_markers:
            return None
        return MarkerArray(markers=[delete_all(frame), *markers])


FEATURE = Feature(
    'contacts',
    ContactParameters,
    group='Robot description and markers',
    topics=(DATA, MARKERS),
    attach=ContactTopics,
)
