# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One page: the states that it is sent, and its requests."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from functools import partial
import logging
import time

import numpy as np
from websockets.exceptions import ConnectionClosed

from urlab_ros_bridge.gateways.serving.latest import LatestExecutor
from urlab_ros_bridge.gateways.serving.outbox import Outbox
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.page import messages
from urlab_ros_bridge.gateways.virtual_field.page.channels import Channel
from urlab_ros_bridge.gateways.virtual_field.page.channels import read_channels
from urlab_ros_bridge.gateways.virtual_field.page.messages import Request
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageUser
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageWorld
from urlab_ros_bridge.gateways.virtual_field.page.page_world import Viewer
from urlab_ros_bridge.gateways.virtual_field.page.requests import Answer
from urlab_ros_bridge.gateways.virtual_field.page.requests import RequestKind
from urlab_ros_bridge.gateways.virtual_field.page.requests import REQUESTS
from urlab_ros_bridge.gateways.virtual_field.page.requests import UnknownRequest
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_poses
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import ASSETS_AT_ONCE
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

# Limit of states that are in flight to a page or wait to be drawn.
WINDOW = 6
# Beyond the window, a page (such as a hidden tab) gets one state per this time (s).
_SLOW = 1.0
MAX_WATCHED = 256
MAX_IMAGES = 64
MAX_WATCHED_VALUES = 8192
_COUNTER = 1 << 32
_NO_VALUES = np.zeros(0, '<f4')


class PageSession:
    """
    One page: a client that lists ``binary`` in the `extensions` of its hello.

    Its binary messages come here, and instead of scene_state it gets what is sent here.  Its text
    messages are those of the protocol, as for every client.  `open`, `receive` and `close` are
    called by the thread that reads from it, `tick` by the one that sends to it.

    :ivar user: who opened the page.
    """

    def __init__(
        self, world: PageWorld, publications: Publications, user: PageUser, outbox: Outbox
    ) -> None:
        """
        Prepare.

        :param publications: what publishers show in the world.
        """
        self._world = world
        self._publications = publications
        self.user = user
        self._outbox = outbox
        self._viewer = Viewer(user, outbox)
        self._published = 0  # version of the publications that the page has
        self._assets: frozenset[tuple[str, int]] = frozenset()
        # Numbers and channels, together, because another thread reads them.
        self._watched: tuple[tuple[int, ...], tuple[Channel, ...]] = ((), ())
        self._last: tuple[object, ...] = ()
        self._sent = self._drawn = 0
        self._sent_at = 0.0
        self._requests = LatestExecutor('webxr-page')
        self._hands = LatestExecutor('webxr-hands')  # of continuous input
        self._own: dict[str, Callable[[PayloadFields], Answer]] = {
            'watch': self._watch,
            'contacts': self._show_contacts,
            'cameras': self._show_cameras,
            'e_stop': self._set_e_stop,
        }
        control = world.control
        for op, change in (
            ('control_take', control.take),
            ('control_request', control.request),
            ('control_release', control.release),
        ):
            self._own[op] = partial(self._change_control, op, change)

    def open(self) -> None:
        """Send the world, then its updates; hello_ack has been sent."""
        self._outbox.send(self._world.description)
        self._world.add(self._viewer)

    def close(self) -> None:
        """End the session; commands of the page expire by themselves."""
        self._world.remove(self._viewer)
        self._world.control.release(self.user.name)
        self._hands.close()
        self._requests.close()

    def tick(self, scene: SceneFrame) -> None:
        """Send the newest state unless the page lags behind or already has it."""
        if self._published != self._publications.version:
            self._publish()
        now = time.monotonic()
        lag = (self._sent - self._drawn) % _COUNTER
        key, watched = self._watched
        latest = (scene, key)
        if latest == self._last or (lag >= WINDOW and now - self._sent_at < _SLOW):
            return
        world = self._world
        poses = scene.shared(
            ('page', id(world)),
            lambda: y_up_poses(
                scene.body_positions[world.moving], scene.body_quaternions[world.moving]
            ),
        )
        values = _NO_VALUES
        if watched:
            values = scene.shared(('page', key), lambda: read_channels(watched, scene.seen))
        number = (self._sent + 1) % _COUNTER
        self._outbox.send(messages.state(number, scene.time, scene.step, poses, values))
        self._sent, self._sent_at, self._last = number, now, latest

    def _publish(self) -> None:
        """Send the publications, with as many of the missing meshes as fit in one message."""
        version, placed, overlays, meshes = self._publications.read()
        assets, size = {}, 0
        lacked = [mesh for mesh in meshes.values() if mesh.key not in self._assets]
        for mesh in lacked:
            if size < ASSETS_AT_ONCE:
                assets[mesh.mesh_id] = mesh.asset_uri
                size += len(mesh.asset_uri)
        self._outbox.send(messages.published(placed, assets, overlays))
        had = {mesh.key for mesh in meshes.values() if mesh.mesh_id in assets}
        keys = {mesh.key for mesh in meshes.values()}
        self._assets = frozenset((self._assets | had) & keys)
        if len(assets) == len(lacked):
            self._published = version

    def receive(self, message: bytes) -> None:
        """Handle a binary message of the page: an acknowledgement or a request."""
        try:
            said = messages.read_message(message)
        except messages.BadPageMessage as error:
            self._answer(Request('', None, {}), {'error': str(error)}, always=True)
            return
        if isinstance(said, int):
            self._drawn = said
        else:
            self._run_request(said)

    def _run_request(self, request: Request) -> None:
        own = self._own.get(request.op)
        if own is not None:
            self._carry_out(request, lambda world, fields: own(fields))
            return
        kind: RequestKind | None = REQUESTS.get(request.op)
        if kind is None:
            self._answer(request, {'error': str(UnknownRequest(request.op))}, always=True)
            return
        try:
            self._need_command(request.op)
            if not kind.reads:
                self._world.control.use(self.user.name)
            if kind.moves:
                self._world.check_e_stop()
        except BadMessage as error:
            self._answer(request, {'error': str(error)}, always=True)
            return
        run = kind.run
        if kind.newest:
            which = [request.fields.get(name) for name in ('robot', 'actuator', 'tip', 'body')]
            self._hands.submit(lambda: self._carry_out(request, run), f'{request.op} {which}')
        elif kind.long or not self._requests.is_idle:
            # Meanwhile, acknowledgements are still read.
            self._requests.submit(lambda: self._carry_out(request, run))
        else:
            self._carry_out(request, run)

    def _carry_out(self, request: Request, run: object) -> None:
        try:
            answer: Answer = run(self._world, PayloadFields(request.fields))  # type: ignore[operator]
        except UrlabError as error:
            self._answer(request, {'error': str(error)}, always=True)
        except Exception:
            _LOG.exception('the gateway failed on the request %.100r', request.op)
            error_text = 'the gateway failed; see its log'
            self._answer(request, {'error': error_text}, always=True)
        else:
            self._answer(request, answer)

    def _answer(self, request: Request, answer: Answer, *, always: bool = False) -> None:
        if request.number is None and not always:
            return
        content = {'type': 'answer', 'op': request.op, 'id': request.number} | answer
        with contextlib.suppress(ConnectionClosed):
            self._outbox.send(messages.text(content))

    def _need_command(self, op: str) -> None:
        """
        Check that this page may do more than watch.

        :raises BadMessage: when it may not.
        """
        if self.user.view_only:
            raise BadMessage(f'this session may only watch: {op} is refused')

    def _change_control(
        self, op: str, change: Callable[[str], None], fields: PayloadFields
    ) -> Answer:
        """Take, request or release control."""
        self._need_command(op)
        change(self.user.name)
        return self._world.control.describe()

    def _set_e_stop(self, fields: PayloadFields) -> Answer:
        """Engage or release the e-stop; engaging needs no control."""
        engaged = fields.flag('engaged', True)
        self._need_command('e_stop')
        if not engaged:
            self._world.control.use(self.user.name)
        self._world.set_e_stop(engaged)
        return {'engaged': self._world.e_stop}

    def _watch(self, fields: PayloadFields) -> Answer:
        """Add the values of these channels to each state."""
        numbers = fields.need('channels')
        channels = self._world.channels
        if not isinstance(numbers, list) or len(numbers) > MAX_WATCHED:
            raise BadMessage(f'channels must be a list of at most {MAX_WATCHED} numbers')
        for number in numbers:
            if type(number) is not int or not 0 <= number < len(channels):
                raise UnknownName('channel', number, [f'0 to {len(channels) - 1}'])
        watched = tuple(channels[number] for number in numbers)
        if sum(channel.width for channel in watched) > MAX_WATCHED_VALUES:
            raise BadMessage(f'these channels have more than {MAX_WATCHED_VALUES} values')
        self._watched = tuple(numbers), watched
        return {'channels': numbers}

    def _show_contacts(self, fields: PayloadFields) -> Answer:
        self._viewer.wants_contacts = fields.flag('on', True)
        return {}

    def _show_cameras(self, fields: PayloadFields) -> Answer:
        """Send images of these cameras."""
        names = fields.need('names')
        if not isinstance(names, list) or len(names) > MAX_IMAGES:
            raise BadMessage(f'names must be a list of at most {MAX_IMAGES} cameras')
        for name in names:
            if not isinstance(name, str) or name not in self._world.cameras:
                raise UnknownName('camera', name, self._world.cameras)
        self._viewer.images = frozenset(names)
        self._world.update_feeds()
        return {'names': names}


__all__ = ['WINDOW', 'PageSession']
