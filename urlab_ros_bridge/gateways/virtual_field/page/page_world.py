# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What all pages of one simulation share: its description, bodies, status and camera images."""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import logging
import threading
from typing import Any
from typing import Protocol

import numpy as np

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.serving.latest import PeriodicThread
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
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.serving.page_session import PageUser
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


class Listener(Protocol):
    """A page, as its world sees it."""

    user: PageUser
    wants_contacts: bool
    images: frozenset[str]

    def offer(self, message: bytes, key: object) -> None:
        """Send a message soon, unless a newer one of the same key comes before."""


class PageWorld:
    """
    One simulation for pages.  Thread-safe.

    :ivar description: the first message of each page; `files` the bodies by their digests.
    :ivar control: which page commands it.
    :ivar e_stop: whether the e-stop is engaged.
    """

    def __init__(self, served: ServedScene) -> None:
        """
        Read the model: this takes a while where there are large meshes.

        :raises ModelUnavailable: see `Handshake.model`.
        """
        handshake, world = served.handshake, served.world
        self.served = served
        self.control = ControlLock()
        self.e_stop = False
        self.channels = all_channels(handshake)
        self.moving = np.array(moving_bodies(world), np.intp)
        self.cameras = all_cameras(handshake)
        self.tips = find_tips(served)
        self.files: dict[str, bytes] = {}
        bodies = self._bodies(served)
        tips = describe_tips(served, self.tips)
        described = describe(handshake, world, bodies, self.channels, tips, self.cameras)
        self.description = messages.text(described)
        self._led: dict[int, LedTip] = {}
        self._places = {name: place for place, name in enumerate(self.cameras)}
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._feeds: dict[str, ImageFeed] = {}
        self._turn = 0
        self._updates = PeriodicThread('webxr-updates', self._update, UPDATE_RATE)
        self._updates.start()

    def add(self, listener: Listener) -> None:
        """Send a page status, contacts and images from now on."""
        with self._lock:
            self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        """Send a page nothing more."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)
        self.update_pictures()

    def close(self) -> None:
        """End: the simulation has ended."""
        with self._lock:
            self._listeners.clear()
        self.update_pictures()
        self._updates.stop()

    def update_pictures(self) -> None:
        """Begin and end feeds, as the wishes of the pages are now."""
        with self._lock:
            wanted = {name for listener in self._listeners for name in listener.images}
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
        Engage or release the e-stop of the server, and show all pages.

        A stock server has none: there the bases are stopped, and pages refuse commands.
        """
        link = self.served.link
        if E_STOP in link.handshake.extensions:
            engaged = link.queries.e_stop(engaged)
        self.e_stop = engaged
        if engaged and E_STOP not in link.handshake.extensions:
            for prefix, robot in link.handshake.articulations.items():
                if robot.twist_controller is not None:
                    link.drive(prefix, (0.0, 0.0, 0.0), 1.0)
        self._send_status()

    def check_e_stop(self) -> None:
        """
        Make sure that something may be moved; a server with an e-stop refuses it by itself.

        :raises BadMessage: while the e-stop is engaged.
        """
        if self.e_stop and E_STOP not in self.served.link.handshake.extensions:
            raise BadMessage('the e-stop is engaged')

    def tip(self, number: int) -> LedTip:
        """
        Return a tip that can be led.

        :raises UnknownName: when there is no such tip.
        :raises RobotError: when mink is not installed.
        """
        if not 0 <= number < len(self.tips):
            raise UnknownName('tip', number, [str(other) for other in range(len(self.tips))])
        served, arm = self.served, self.tips[number]
        with self._lock:
            if number not in self._led:
                robot = served.robots[arm.prefix]
                self._led[number] = LedTip(served.handshake.model, robot, arm)
            return self._led[number]

    def _bodies(self, served: ServedScene) -> Bodies:
        models = served.models
        found: dict[Geoms, dict[int, str]] = {Geoms.SEEN: {}, Geoms.COLLIDING: {}}
        for which, digests in found.items():
            for body in served.world.bodies:
                if models.is_drawn(body.id, which):
                    digests[body.id] = self._serve_content(models.glb(body.id, which, named=False))
        return Bodies(found[Geoms.SEEN], found[Geoms.COLLIDING])

    def _serve_content(self, content: bytes) -> str:
        """Serve a file; return its digest."""
        digest = hashlib.sha256(content).hexdigest()[:24]
        self.files[digest] = content
        return digest

    def _feed(self, name: str) -> ImageFeed:
        handshake, place = self.served.handshake, self._places[name]
        host = self.served.link.endpoint.removeprefix('tcp://').rpartition(':')[0]
        source = open_camera(
            self.cameras[name],
            host,
            shm_dir=handshake.shm_session_dir,
            keys=self.served.link.keys,
        )

        def show(width: int, height: int, time: float, jpeg: bytes) -> None:
            message = messages.image(place, width, height, time, jpeg)
            for listener in list(self._listeners):
                if name in listener.images:
                    listener.offer(message, ('image', place))

        return ImageFeed(source, _METRES.get(handshake.depth_unit, 1.0), show)

    def _update(self) -> None:
        """Send pages what is not part of a state."""
        with self._lock:
            listeners = list(self._listeners)
        if not listeners:
            return
        try:
            if self._turn % STATUS_EVERY == 0:
                self._send_status()
            curious = [listener for listener in listeners if listener.wants_contacts]
            if curious:
                rows = messages.contacts(self._contacts())
                for listener in curious:
                    listener.offer(rows, 'contacts')
        except UrlabError as error:
            _LOG.debug('cannot read the status: %s', error)
        self._turn += 1

    def _send_status(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        status = messages.text(self._status(listeners))
        for listener in listeners:
            listener.offer(status, 'status')

    def _status(self, pages: list[Listener]) -> dict[str, Any]:
        status = self.served.link.queries.status()
        diverged = status.divergence
        if E_STOP in self.served.link.handshake.extensions:
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
        """Return where bodies touch, and the normal force there on the second one."""
        found = self.served.link.queries.get_contacts(MAX_CONTACTS).contacts
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


__all__ = ['Listener', 'PageWorld', 'all_cameras']
