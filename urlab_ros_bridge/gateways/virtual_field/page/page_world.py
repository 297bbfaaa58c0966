# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What all pages of one simulation share: its description, bodies, status and camera images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import logging
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.serving.latest import PeriodicThread
from urlab_ros_bridge.gateways.serving.outbox import Outbox
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.gltf import Geoms
from urlab_ros_bridge.gateways.virtual_field.page import messages
from urlab_ros_bridge.gateways.virtual_field.page.channels import all_channels
from urlab_ros_bridge.gateways.virtual_field.page.control import ControlLock
from urlab_ros_bridge.gateways.virtual_field.page.description import Bodies
from urlab_ros_bridge.gateways.virtual_field.page.description import describe
from urlab_ros_bridge.gateways.virtual_field.page.description import moving_bodies
from urlab_ros_bridge.gateways.virtual_field.page.images import ImageFeed
from urlab_ros_bridge.gateways.virtual_field.page.tips import describe_tips
from urlab_ros_bridge.gateways.virtual_field.page.tips import find_tips
from urlab_ros_bridge.gateways.virtual_field.page.tips import LedTip
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.live_scene import LiveScene
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

# Rate of contacts (Hz), and how many of these periods pass between two messages of status.
UPDATE_RATE = 15.0
STATUS_EVERY = 4
MAX_CONTACTS = 256
# Extension of a server that has an e-stop.
E_STOP = 'e_stop'
_METRES = {'m': 1.0, 'cm': 0.01}


@dataclass(frozen=True, slots=True)
class PageUser:
    """
    Who opened a page.

    :ivar name: of the session, as other pages see it.
    :ivar device: browser and system, as the page names them.
    :ivar view_only: whether it may only watch.
    """

    name: str
    device: str = ''
    view_only: bool = False


@dataclass(eq=False, slots=True)
class Viewer:
    """
    One page of a world, and what it is sent beside states.

    :ivar wants_contacts: whether it draws contacts.
    :ivar images: names of the cameras that it shows.
    """

    user: PageUser
    outbox: Outbox
    wants_contacts: bool = False
    images: frozenset[str] = frozenset()


class PageWorld:
    """
    One simulation for pages.  Thread-safe.

    :ivar description: the first message of each page; `files` the bodies by their digests.
    :ivar control: which page commands it.
    :ivar e_stop: whether the e-stop is engaged.
    """

    def __init__(self, scene: LiveScene) -> None:
        """
        Read the model: this takes a while where there are large meshes.

        :raises ModelUnavailable: see `Handshake.model`.
        """
        handshake, world = scene.handshake, scene.world
        self.scene = scene
        self.control = ControlLock()
        self.e_stop = False
        self.channels = all_channels(handshake)
        self.moving = np.array(moving_bodies(world), np.intp)
        self.cameras = all_cameras(handshake)
        self.tips = find_tips(scene)
        self.files: dict[str, bytes] = {}
        bodies = self._bodies(scene)
        tips = describe_tips(scene, self.tips)
        described = describe(handshake, world, bodies, self.channels, tips, self.cameras)
        self.description = messages.text(described)
        self._led: dict[int, LedTip] = {}
        self._places = {name: place for place, name in enumerate(self.cameras)}
        self._lock = threading.Lock()
        self._viewers: list[Viewer] = []
        self._feeds: dict[str, ImageFeed] = {}
        self._turn = 0
        self._updates = PeriodicThread('webxr-updates', self._update, UPDATE_RATE)
        self._updates.start()

    @property
    def link(self) -> SimulationLink:
        """Return the link to the simulation."""
        return self.scene.link

    def add(self, viewer: Viewer) -> None:
        """Start sending status, contacts and images to a page."""
        with self._lock:
            self._viewers.append(viewer)

    def remove(self, viewer: Viewer) -> None:
        """Stop sending to a page."""
        with self._lock:
            if viewer in self._viewers:
                self._viewers.remove(viewer)
        self.update_feeds()

    def close(self) -> None:
        """End: the simulation has ended."""
        with self._lock:
            self._viewers.clear()
        self.update_feeds()
        self._updates.stop()

    def update_feeds(self) -> None:
        """Start and stop feeds so that each camera that a page shows has one."""
        with self._lock:
            wanted = {name for viewer in self._viewers for name in viewer.images}
            ended = [self._feeds.pop(name) for name in list(self._feeds) if name not in wanted]
            for name in wanted - self._feeds.keys():
                try:
                    self._feeds[name] = self._feed(name)
                except UrlabError as error:
                    _LOG.warning('no images of %s: %s', name, error)
        for feed in ended:
            feed.close()

    def set_e_stop(self, engaged: bool) -> None:
        """
        Engage or release the e-stop of the server, and update all pages.

        A stock server has none: its bases are stopped, and pages are refused commands.
        """
        link = self.link
        if E_STOP in link.handshake.extensions:
            engaged = link.queries.e_stop(engaged)
        self.e_stop = engaged
        if engaged and E_STOP not in link.handshake.extensions:
            for prefix, robot in link.handshake.articulations.items():
                if robot.twist_controller is not None:
                    link.set_twist(prefix, (0.0, 0.0, 0.0), 1.0)
        self._send_status()

    def check_e_stop(self) -> None:
        """
        Refuse motion on a server without an e-stop of its own.

        :raises BadMessage: while the e-stop is engaged.
        """
        if self.e_stop and E_STOP not in self.link.handshake.extensions:
            raise BadMessage('the e-stop is engaged')

    def tip(self, number: int) -> LedTip:
        """
        Return a tip that can be led.

        :raises UnknownName: when there is no such tip.
        :raises RobotError: when mink is not installed.
        """
        if not 0 <= number < len(self.tips):
            raise UnknownName('tip', number, [str(other) for other in range(len(self.tips))])
        scene, arm = self.scene, self.tips[number]
        with self._lock:
            if number not in self._led:
                robot = scene.robots[arm.prefix]
                self._led[number] = LedTip(scene.handshake.model, robot, arm)
            return self._led[number]

    def _bodies(self, scene: LiveScene) -> Bodies:
        models = scene.models
        found: dict[Geoms, dict[int, str]] = {Geoms.SEEN: {}, Geoms.COLLIDING: {}}
        for which, digests in found.items():
            for body in scene.world.bodies:
                if models.is_drawn(body.id, which):
                    digests[body.id] = self._serve_content(models.glb(body.id, which, named=False))
        return Bodies(found[Geoms.SEEN], found[Geoms.COLLIDING])

    def _serve_content(self, content: bytes) -> str:
        """Serve a file; return its digest."""
        digest = hashlib.sha256(content).hexdigest()[:24]
        self.files[digest] = content
        return digest

    def _feed(self, name: str) -> ImageFeed:
        handshake, place = self.scene.handshake, self._places[name]
        host = self.link.endpoint.removeprefix('tcp://').rpartition(':')[0]
        source = open_camera(
            self.cameras[name],
            host,
            shm_dir=handshake.shm_session_dir,
            keys=self.link.keys,
        )

        def show(width: int, height: int, time: float, jpeg: bytes) -> None:
            message = messages.image(place, width, height, time, jpeg)
            for viewer in list(self._viewers):
                if name in viewer.images:
                    viewer.outbox.offer(message, ('image', place))

        return ImageFeed(source, _METRES.get(handshake.depth_unit, 1.0), show)

    def _update(self) -> None:
        """Send status and contacts, which are not part of a state."""
        with self._lock:
            viewers = list(self._viewers)
        if not viewers:
            return
        try:
            if self._turn % STATUS_EVERY == 0:
                self._send_status()
            curious = [viewer for viewer in viewers if viewer.wants_contacts]
            if curious:
                rows = messages.contacts(self._contacts())
                for viewer in curious:
                    viewer.outbox.offer(rows, 'contacts')
        except UrlabError as error:
            _LOG.debug('cannot read the status: %s', error)
        self._turn += 1

    def _send_status(self) -> None:
        with self._lock:
            viewers = list(self._viewers)
        status = messages.text(self._status(viewers))
        for viewer in viewers:
            viewer.outbox.offer(status, 'status')

    def _status(self, pages: list[Viewer]) -> dict[str, Any]:
        status = self.link.queries.status()
        diverged = status.divergence
        if E_STOP in self.link.handshake.extensions:
            self.e_stop = status.e_stop
        return {
            'type': 'status',
            'mode': status.mode,
            'pinned': status.pinned,
            'paused': status.paused,
            'speed': status.speed,
            'real_time_factor': round(status.real_time_factor, 3),
            'tick_rate': round(status.tick_rate, 1),
            'step': status.step,
            'pages': [
                {'name': user.name, 'device': user.device, 'view_only': user.view_only}
                for user in (page.user for page in pages)
            ],
            'control': self.control.describe(),
            'e_stop': self.e_stop,
            'bridge': status.has_bridge,
            'sessions': [
                {
                    'client': str(session.get('client', '')),
                    'shared': bool(session.get('shared')),
                    'age': session.get('age'),
                }
                for session in status.sessions
            ],
            'recording': status.raw.get('recording'),
            'replay': status.raw.get('replay'),
            'divergence': diverged
            and {'count': diverged.count, 'text': status.fault or str(diverged)},
        }

    def _contacts(self) -> np.ndarray:
        """Return contact points and the normal forces on the second body."""
        found = self.link.queries.get_contacts(MAX_CONTACTS).contacts
        if not found:
            return np.zeros((0, 6), '<f4')
        places = np.array([contact.pos for contact in found])
        forces = np.array([contact.normal * contact.force[0] for contact in found])
        return np.concatenate([y_up(places), y_up(forces)], axis=1).astype('<f4')


def all_cameras(handshake: Handshake) -> Mapping[str, CameraInfo]:
    """Return the cameras that can be streamed, by names that are unique in the world."""
    found = dict(handshake.global_cameras)
    for prefix, robot in handshake.articulations.items():
        for name, camera in robot.cameras.items():
            found[f'{prefix}/{name}'] = camera
    return {name: camera for name, camera in found.items() if camera.port is not None}


__all__ = ['PageUser', 'PageWorld', 'Viewer', 'all_cameras']
