# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The environment of a policy: episodes, observations, actions and task results of one robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.cameras import CameraTable
from urlab_ros_bridge.gateways.chiral.profile.defaults import choose_articulation
from urlab_ros_bridge.gateways.chiral.profile.defaults import complete
from urlab_ros_bridge.gateways.chiral.profile.layout import ActionLayout
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.proprio import needs_forces
from urlab_ros_bridge.gateways.chiral.protocol.codec import Action
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.serving.lockstep import Lockstep
from urlab_ros_bridge.gateways.chiral.serving.observer import ObservationMaker
from urlab_ros_bridge.gateways.chiral.serving.pace import Pace
from urlab_ros_bridge.gateways.chiral.serving.pace import RobotControl
from urlab_ros_bridge.gateways.chiral.serving.real_time import RealTime
from urlab_ros_bridge.gateways.chiral.serving.task import Task
from urlab_ros_bridge.gateways.chiral.serving.task import TaskView
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.clocks import LatencyMeter
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.robot import read_actuated_robot
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene

CLOCK_UNITS = {
    'sim': 'simulated seconds',
    'monotonic': 'monotonic seconds of the server host',
    'unix_ns': 'unix nanoseconds',
}


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """
    The options of a reset, an extension; stock clients send none.

    :ivar seed: None counts up from the profile's seed.
    :ivar keyframe: None is the profile's.
    """

    seed: int | None = None
    keyframe: str | None = None

    @classmethod
    def read(cls, header: dict[str, Any]) -> ResetRequest:
        """
        Read the header of a reset.

        :raises BadAction: when seed or keyframe are of the wrong kind.
        """
        seed, keyframe = header.get('seed'), header.get('keyframe')
        if seed is not None and (type(seed) is not int or seed < 0):
            raise BadAction(f'reset: seed is {seed!r:.40}, not an integer of at least 0')
        if keyframe is not None and not isinstance(keyframe, str):
            raise BadAction(f'reset: keyframe is {keyframe!r:.40}, not a name')
        return cls(seed, keyframe)


class RobotEnvironment:
    """
    The environment of a policy: one robot of a running server, as a profile specifies.

    :ivar profile: completed; `robot` and `layout` are made from it and the model.
    :ivar latency: of the actions of this episode.
    """

    def __init__(self, link: SimulationLink, wanted: Profile) -> None:
        """
        Complete the profile for the robot, and take over the robot in its current state.

        :param link: connected.
        :raises UrlabError: when the world lacks what the profile requires, or the server does not
            allow its pace.
        """
        self.link = link
        handshake = link.handshake
        with profile_key('articulation'):
            self.robot = read_actuated_robot(handshake, choose_articulation(wanted, handshake))
        self.cameras = CameraTable(handshake, self.robot)
        self.profile = complete(wanted, self.robot, self.cameras)
        self.layout = ActionLayout(self.profile, self.robot, handshake.model)
        rate = self.profile.control.rate
        if rate * link.timestep > 1.0:
            most = f'is more than one action a simulation step ({1 / link.timestep:g} Hz)'
            raise ProfileError.unfit('control.rate', rate, most)
        self.latency = LatencyMeter(self.profile.clock)
        self.task = Task(self.profile.task)
        self.episode = -1
        self._started_at = 0.0
        self._scene = MirroredScene(handshake)  # for actions
        self.pace = self._make_pace()

    def _make_pace(self) -> Pace:
        profile, layout, prefix = self.profile, self.layout, self.robot.prefix

        def hold(seen: StepResult) -> Target:
            state = seen.articulations[prefix]
            return layout.initial(state.qpos, state.ctrl)

        wanted = profile.control
        control = RobotControl(
            prefix,
            wanted.rate,
            wanted.interpolation_rate if wanted.interpolate else None,
            hold,
            smooth=layout.smooth,
            raw=layout.raw,
            observations='full' if needs_forces(profile) else 'standard',
            cameras=self.observer().requested,
            clock=profile.clock,
        )
        if profile.pace == 'lockstep':
            return Lockstep(self.link, control)
        return RealTime(self.link, control, prefetches=profile.frames == 'latest')

    @property
    def in_order(self) -> bool:
        """Return whether an action has to wait for the requests before it."""
        return self.pace.in_order

    def observer(self) -> ObservationMaker:
        """Return a maker of observations, with its own images, for one connection."""
        return ObservationMaker(self.profile, self.robot, self.cameras, self.link.handshake)

    def observe(self, observer: ObservationMaker) -> Observation:
        """Return the current observation; may be called from several threads."""
        now = self.pace.timed_state()
        started = self._started_at
        seen = observer.observe(now.seen, now.target, now.stamp, {})
        since = max(0.0, now.seen.time - started)
        view = TaskView(now.seen, observer.scene, max(self.episode, 0), since)
        seen.extra = {
            'sim_time': now.seen.time,
            'step': now.seen.step,
            'episode': max(self.episode, 0),
            'instruction': self.task.instruction,
            **self.task.judge(view),
            'latency': self.latency.report(),
        }
        return seen

    def act(self, action: Action) -> None:
        """
        Execute an action.

        :raises BadAction: when it cannot; nothing has moved then.
        """
        layout = self.layout
        rows = layout.rows(action.values)

        def resolve(seen: StepResult, before: Target) -> list[Target]:
            if layout.needs_scene:
                self._scene.update(seen)
            targets = [before]
            for row in rows:
                targets.append(layout.resolve(row, targets[-1], self._scene))
            return targets[1:]

        self.pace.act(resolve, lambda stamp: self.latency.add(action.timestamps, stamp))

    def reset(self, observer: ObservationMaker, request: ResetRequest) -> Observation:
        """
        Begin an episode and return its first observation.

        :raises UnknownKeyframe: nothing was reset.
        """
        profile = self.profile.reset
        seed = profile.seed + self.episode + 1 if request.seed is None else request.seed
        keyframe = profile.keyframe if request.keyframe is None else request.keyframe
        self.latency.clear()
        began = self.pace.begin(lambda: self._rewind(seed, keyframe), profile.settle)
        self._started_at = began.time
        self.episode += 1
        seen = self.observe(observer)
        seen.info = {'seed': seed, 'keyframe': keyframe, 'episode': self.episode}
        return seen

    def _rewind(self, seed: int, keyframe: str) -> StepResult:
        """Reset the world, with the joint noise of the profile."""
        seen = self.link.reset(keyframe, seed)
        noise, joints = self.profile.reset.joint_noise, self.robot.joints.values()
        if noise <= 0.0 or not joints:
            return seen
        random = np.random.default_rng(seed)
        qpos = seen.articulations[self.robot.prefix].qpos
        noisy = {j.name: float(qpos[j.slot] + random.normal(0.0, noise)) for j in joints}
        return self.link.reset(keyframe, seed, {self.robot.prefix: noisy})

    def on_driver_disconnect(self) -> None:
        """Apply `on_disconnect` of the profile."""
        policy, reset = self.profile.control.on_disconnect, self.profile.reset
        if policy == 'reset':
            self.pace.begin(lambda: self._rewind(reset.seed, reset.keyframe))
            return
        seen, target = self.pace.current()
        if policy == 'stop':
            target = self.layout.stopped(seen.articulations[self.robot.prefix].qpos, target)
        elif target.twist is not None:  # "hold" refers to the pose: a moving base must stop
            target = Target(target.ctrl, (0.0, 0.0, 0.0))
        self.pace.command(target)

    def close(self) -> None:
        """Release the robot."""
        self.pace.close()

    def describe(self) -> dict[str, Any]:
        """Return the metadata of the robot and the pace."""
        profile, layout = self.profile, self.layout
        return {
            'cameras': [camera.name for camera in profile.cameras or []],
            'proprio_names': [stream.name for stream in profile.proprio or []],
            'action_shape': [layout.size],
            'action_type': layout.action_type(),
            'action_layout': layout.describe(),
            'control_hz': profile.control.rate,
            'robot': self.robot.prefix,
            'world': self.link.handshake.world,
            'pace': profile.pace,
            'frames': profile.frames,
            'timestamps': CLOCK_UNITS[profile.clock],
            'extrinsics': 'camera to reference, row-major, OpenCV axes',
            'reference': profile.reference or self.robot.base_name,
            'depth': 'float32 metres along the optical axis, 0 = none',
            'instruction': profile.task.instruction,
            'chunks': profile.control.chunks,
        }


__all__ = ['ResetRequest', 'RobotEnvironment']
