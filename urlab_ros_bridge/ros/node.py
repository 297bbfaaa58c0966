# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The node: parameters, and the threads that do the work.

- stream: takes ticks in and publishes everything with a stamp;
- lockstep: steps the server and waits for answers; only while it is on;
- link: connects, watches the server, plans what to publish;
- commands: sends commands to the server;
- services: answers services, one after the other, in a node of its own: the events executor takes
  no coroutines, so a long request would hold up every other callback;
- simulation: likewise, for the standard services of simulators;
- executor (the caller's thread): subscriptions and parameters.  It never waits for the server.
"""

from __future__ import annotations

from typing import Any

from rclpy.context import Context as RosContext
from rclpy.executors import Executor
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.bag import BagError
from urlab_ros_bridge.ros.bag import RecordableNode
from urlab_ros_bridge.ros.bag import Recorder
from urlab_ros_bridge.ros.bag import Taps
from urlab_ros_bridge.ros.cameras import Cameras
from urlab_ros_bridge.ros.cameras import plan_cameras
from urlab_ros_bridge.ros.clock import ClockPublisher
from urlab_ros_bridge.ros.commands import Commands
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.e_stop import EStop
from urlab_ros_bridge.ros.lockstep import Lockstep
from urlab_ros_bridge.ros.lockstep import Parts
from urlab_ros_bridge.ros.markers.live import LiveMarkers
from urlab_ros_bridge.ros.params import Parameters
from urlab_ros_bridge.ros.params import undeclared_overrides
from urlab_ros_bridge.ros.plan import WorldPlan
from urlab_ros_bridge.ros.reporter import log_to
from urlab_ros_bridge.ros.reporter import Reporter
from urlab_ros_bridge.ros.services import Context
from urlab_ros_bridge.ros.services import create_services
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.side_node import SideThread
from urlab_ros_bridge.ros.simulation import Simulation
from urlab_ros_bridge.ros.stream import StreamThread
from urlab_ros_bridge.ros.world import World
from urlab_ros_bridge.wire.errors import UrlabError

NODE_NAME = 'urlab_bridge'


class BridgeNode(RecordableNode):
    """The bridge."""

    def __init__(
        self,
        *,
        status_fd: int | None = None,
        context: RosContext | None = None,
        parameter_overrides: list[Parameter] | None = None,
        **arguments: Any,
    ) -> None:
        """
        Declare everything; nothing runs before `start`.

        :param status_fd: file descriptor that gets a JSON line with figures once a second.
        :raises BadParameter: when a parameter has a value that is not accepted.
        :raises InterfaceMissing: without tf2_msgs or urlab_msgs.
        """
        super().__init__(
            NODE_NAME, context=context, parameter_overrides=parameter_overrides, **arguments
        )
        self._log = log_to(self)
        self.taps = Taps(lambda: self.stream.timeline.tick_ns)
        self._ros_context = context
        self._beside: list[Commands | SideThread | Simulation] = []
        try:
            self._refuse_sim_time()
            self.parameters = Parameters(self, self._changed)
            self._furnish(status_fd)
        except BaseException:
            # What is left of a node that came to nothing would stay in the graph.
            self.destroy_node()
            raise

    def _furnish(self, status_fd: int | None) -> None:
        """Make the parts that move data, in the order in which they need each other."""
        for text in undeclared_overrides(self):
            self._log('warning', text)
        settings = self.parameters.settings
        self.plan = WorldPlan()
        self._world_plan: WorldPlan | None = None
        self._world: World | None = None
        self.stream = StreamThread(
            settings,
            ClockPublisher(self, settings.clock_rate),
            on_tick=self._on_tick,
            on_jump=self._on_jump,
            on_beat=self._on_beat,
            also=lambda: self.commands.wanted,
        )
        self.link = Link(self._settings, self.stream, on_plan=self._on_plan, log=self._log)
        self.recorder = Recorder(
            self.taps,
            self.stream,
            self.get_namespace(),
            self._settings,
            lambda: self.link.handshake,
            self._log,
        )
        self.commands = Commands(
            self, self.link, self.stream.timeline, self._settings, self._log, self.stream.joints
        )
        self._beside.append(self.commands)
        self.e_stop = EStop(self, self.commands, self._log)
        self.cameras = Cameras(self, self.stream.timeline, self._settings, self._log)
        self.markers = LiveMarkers(
            self, self.link, self.stream.timeline, self._settings, self._log
        )
        self._offer(status_fd)

    def _offer(self, status_fd: int | None) -> None:
        """Make what works with those parts: lockstep, reports and services."""
        parts = Parts(
            self,
            self.link,
            self.stream,
            self.commands,
            self.cameras,
            self._settings,
            self._log,
        )
        self.lockstep = Lockstep(parts, self._settings())
        self._reporter = Reporter(
            self,
            self.stream,
            self.link,
            self.commands,
            self.lockstep,
            self.recorder,
            self._log,
            status_fd,
        )
        self._side_services = SideThread(self, 'services')
        self._beside.append(self._side_services)
        services = Context(
            self.link,
            self.stream,
            lambda: self.plan,
            self.commands.jump,
            self.e_stop,
            self.lockstep,
            self.recorder,
        )
        create_services(self._side_services.node, services)
        self.simulation = Simulation(self, services, self._settings, self._log)
        self._beside.append(self.simulation)

    def start(self) -> None:
        """Start all threads."""
        if self._settings().bag:
            self._begin_bag(self._settings().bag)
        self.commands.start()
        self.stream.start()
        self._side_services.start()
        self.simulation.start()
        self.markers.start()
        self.lockstep.start()
        self.link.start()

    def stop(self) -> None:
        """Stop the robots that were driven from here, then all threads."""
        self.lockstep.end()
        self.commands.stop()
        self._side_services.stop()
        self.simulation.stop()
        self.link.stop()
        self.markers.stop()
        self.cameras.stop()
        self.stream.stop()
        self.recorder.close()

    def destroy_node(self) -> None:
        """Withdraw everything; after `stop`, or in place of `start`."""
        while self._beside:
            self._beside.pop(0).destroy()
        super().destroy_node()

    def _settings(self) -> Settings:
        return self.parameters.settings

    def _changed(self, settings: Settings) -> None:
        self.stream.apply(settings)

    def _begin_bag(self, name: str) -> None:
        try:
            self.recorder.start(name, check=False)
        except BagError as error:
            self._log('warning', f'no bag is recorded: {error}')

    def _refuse_sim_time(self) -> None:
        """Set use_sim_time back: whoever publishes /clock cannot take its time from it."""
        if self.get_parameter('use_sim_time').value:
            self.set_parameters([Parameter('use_sim_time', Parameter.Type.BOOL, False)])
            self._log('warning', 'use_sim_time is ignored: this node publishes /clock')

    def _on_plan(self, plan: WorldPlan, has_sim_time: bool) -> None:
        """Publish what there is now; called in the link thread."""
        world = None
        if not self.link.continued:
            # Set-points and velocities were for the server before.
            self.commands.jump('the bridge has connected anew')
        if plan != self._world_plan:
            try:
                world = World(self, plan, self._settings(), self._world)
            except UrlabError as error:
                self._log('warning', f'nothing is published: {error}')
                return
            for note in world.notes:
                self._log('warning', note)
            self._world_plan = self.plan = plan
            self._world = world
            self.commands.apply(plan)
        self.markers.renew(plan.scene.frame)
        self.stream.hand_over(world, has_sim_time)
        handshake = self.link.handshake
        if handshake is not None:
            try:
                self.cameras.apply(plan_cameras(handshake, plan, self._settings()))
            except UrlabError as error:
                self._log('warning', f'no cameras are published: {error}')

    def _on_tick(self, stamp_ns: int) -> None:
        self.cameras.gate.tick(stamp_ns)
        self.commands.tick(stamp_ns)
        self.lockstep.tick(stamp_ns)

    def _on_jump(self, stamp_ns: int, went_back: bool) -> None:
        if went_back:
            self.cameras.gate.jump()
            self.lockstep.jump()
            self.commands.jump()
        self.recorder.epoch(stamp_ns, went_back)

    def _on_beat(self, now: float) -> None:
        self.commands.watch()
        self.recorder.watch()
        self._reporter.report(now)


def make_executor(context: RosContext | None = None) -> Executor:
    """
    Return the executor for the node: the events executor where rclpy has it.

    It takes a third of the CPU of the single-threaded one.  Drive it with `spin_once`: its `spin`
    fires nothing in some releases.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)
