# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What both paces share: episodes, observations, verdicts, and what happens when a driver goes."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import dataclass
import time
from typing import Any

from urlab_ros_bridge.client.results import StepResult
from urlab_ros_bridge.gateways.chiral.codec import Action
from urlab_ros_bridge.gateways.chiral.codec import Observation
from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.latency import LatencyMeter
from urlab_ros_bridge.gateways.chiral.observer import Observer
from urlab_ros_bridge.gateways.chiral.scene import MirroredScene
from urlab_ros_bridge.gateways.chiral.simulation import Simulation
from urlab_ros_bridge.gateways.chiral.target import Target
from urlab_ros_bridge.gateways.chiral.task import Task
from urlab_ros_bridge.gateways.chiral.task import TaskView

# A base stops when no command came for so many control periods, or this long (s).
TWIST_PERIODS = 3
TWIST_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """
    What a reset asks for; stock clients ask for nothing (an extension).

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


@dataclass(frozen=True, slots=True)
class Moment:
    """
    One reply of the server, and what was in force then.

    :ivar stamp: in the profile's clock.
    """

    seen: StepResult
    target: Target
    stamp: float


class Pace(ABC):
    """
    Drives one robot.

    :ivar latency: of the actions of this episode.
    :ivar in_order: whether an action has to wait for the requests before it.
    """

    in_order = True

    def __init__(self, simulation: Simulation) -> None:
        """
        Take over the robot as it stands.

        :raises UrlabError: when the server does not allow this pace.
        """
        self.simulation = simulation
        self.profile = simulation.profile
        self.latency = LatencyMeter(self.profile.clock)
        self.task = Task(self.profile.task)
        self.episode = -1
        self._started_at = 0.0
        self._scene = MirroredScene(simulation.handshake)

    def observer(self) -> Observer:
        """Return a maker of observations, with its own pictures, for one connection."""
        simulation = self.simulation
        return Observer(self.profile, simulation.robot, simulation.handshake)

    def observe(self, observer: Observer) -> Observation:
        """Return the observation of now; may be called from several threads."""
        moment = self._moment(observer)
        started = self._started_at
        seen = observer.observe(moment.seen, moment.target, moment.stamp, {})
        since = max(0.0, moment.seen.time - started)
        view = TaskView(moment.seen, observer.scene, max(self.episode, 0), since)
        seen.extra = {
            'sim_time': moment.seen.time,
            'step': moment.seen.step,
            'episode': max(self.episode, 0),
            'instruction': self.task.instruction,
            **self.task.judge(view),
            'latency': self.latency.report(),
        }
        return seen

    def reset(self, observer: Observer, request: ResetRequest) -> Observation:
        """
        Begin an episode and return its first observation.

        :raises UnknownKeyframe: nothing was reset.
        """
        profile = self.profile.reset
        seed = profile.seed + self.episode + 1 if request.seed is None else request.seed
        keyframe = profile.keyframe if request.keyframe is None else request.keyframe
        self.latency.clear()
        self._started_at = self._begin(seed, keyframe, profile.settle)
        self.episode += 1
        seen = self.observe(observer)
        seen.info = {'seed': seed, 'keyframe': keyframe, 'episode': self.episode}
        return seen

    @abstractmethod
    def act(self, action: Action) -> None:
        """
        Carry out an action.

        :raises BadAction: when it cannot; nothing has moved then.
        """

    @abstractmethod
    def _moment(self, observer: Observer) -> Moment:
        """Return what an observation is made of."""

    @abstractmethod
    def _begin(self, seed: int, keyframe: str, settle: float) -> float:
        """Reset the world; return the simulated time at which the episode begins."""

    @abstractmethod
    def _command(self, target: Target) -> None:
        """Put a set-point in force at once."""

    @abstractmethod
    def _current(self) -> tuple[StepResult, Target]:
        """Return the state of now and the set-point in force."""

    def driver_gone(self) -> None:
        """Do what the profile wants when the driver has disconnected."""
        policy = self.profile.control.on_disconnect
        if policy == 'reset':
            self._begin(self.profile.reset.seed, self.profile.reset.keyframe, 0.0)
            return
        seen, target = self._current()
        robot, layout = self.simulation.robot, self.simulation.layout
        if policy == 'stop':
            target = layout.stopped(seen.articulations[robot.prefix].qpos, target)
        elif target.twist is not None:  # hold means the pose: nobody watches a driving base
            target = Target(target.ctrl, (0.0, 0.0, 0.0))
        self._command(target)

    @abstractmethod
    def close(self) -> None:
        """Let the robot go; the pace is not used afterwards."""

    def _stamp(self, seen: StepResult) -> float:
        clock = self.profile.clock
        if clock == 'sim':
            return seen.time
        return time.monotonic() if clock == 'monotonic' else seen.wall_time_ns or time.time_ns()

    @property
    def twist_timeout(self) -> float:
        """Return the simulated seconds after which a base stops by itself."""
        return max(TWIST_SECONDS, TWIST_PERIODS / self.profile.control.rate)
