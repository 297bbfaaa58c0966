# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The typed client: one method for each op of the main loop and the runtime namespace."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import TypeAlias

from urlab_ros_bridge.client.errors import SimulationDiverged
from urlab_ros_bridge.client.ops import CommandingOps
from urlab_ros_bridge.client.ops import EntityOps
from urlab_ros_bridge.client.ops import RandomizeOps
from urlab_ros_bridge.client.ops import RecordingOps
from urlab_ros_bridge.client.ops import wall_fields
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies import ops as replies
from urlab_ros_bridge.client.replies.observations import read_twist
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.replies.observations import Twist
from urlab_ros_bridge.client.replies.reader import place_of
from urlab_ros_bridge.client.session import floats
from urlab_ros_bridge.client.session import Vector
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.ops import Op

JointValues: TypeAlias = Mapping[str, float | Vector]

STEP_WHILE_LIVE = 'step_while_live'  # the extension

# The server gives up on a step after 5 s; its answer is better than our own timeout.
STEP_TIMEOUT = 6.0


def _value(value: float | Vector) -> float | list[float]:
    return floats(value) if isinstance(value, Iterable) else float(value)  # type: ignore[return-value]


class Client(RecordingOps, RandomizeOps, CommandingOps, EntityOps):
    """
    A synchronous client of the step server; see `Session` for connecting and errors.

    Every method raises the `RemoteError` subclass of the server's error code, `RequestTimeout`
    when no reply came (the client stays usable), and `ProtocolError` for a reply that makes no
    sense.  Every method may be called from any thread.
    """

    def meta(self) -> dict[str, Op]:
        """Return the op catalogue of the server by name; works without a session."""
        return replies.read_catalogue(self.request('meta'))

    def supports_shared_sessions(self) -> bool:
        """
        Return, without a session, whether the server knows shared sessions.

        On a stock server a shared `connect` would take the session away from its user.
        """
        return 'status' in self.meta()

    def status(self) -> replies.ServerStatus:
        """Return mode, pace and sessions of the server (extension)."""
        return self._ask(replies.ServerStatus, 'status')

    def step(
        self,
        n_steps: int = 1,
        ctrl: Mapping[str, Vector] | Vector | None = None,
        ctrl_map: Mapping[str, Mapping[str, float]] | None = None,
        observations: str | None = None,
        while_paused: bool = False,
        *,
        while_live: bool = False,
        control_mode: Mapping[str, str] | str | None = None,
        xfrc_applied: Mapping[str, Mapping[str, Vector]] | None = None,
        twists: Mapping[str, Mapping[str, Any]] | None = None,
        include_cameras: bool | str | Mapping[str, Any] | None = None,
        topics: Iterable[str] | None = None,
        timeout: float | None = None,
    ) -> StepResult:
        """
        Advance by `n_steps` (direct), or apply controls and read the state (live).

        :param ctrl: prefix -> setpoints in actuator order; a plain vector when the world has one
            articulation.
        :param ctrl_map: prefix -> {actuator: setpoint}.
        :param observations: level of this reply only: minimal, standard or full; snapshot, which
            is what `state/full` holds (extension ``snapshot_level``).
        :param while_paused: in live and paused: advance and stay paused (extension
            ``step_while_paused``).
        :param while_live: only in live mode, where a step reads and commands but does not advance
            (extension ``step_while_live``): for clients that must not move a world that others
            step.
        :param control_mode: ``ue_controller`` or ``raw``, for all or by prefix.
        :param xfrc_applied: prefix -> {body: [fx, fy, fz, tx, ty, tz]}, world frame, N and N m.
        :param twists: prefix -> fields of `set_twist` (linear, angular, timeout ...), taken before
            the step (extension ``step_twist``).
        :param include_cameras: True, or camera -> ``latest`` | ``sync``, or the `frame_id` of an
            earlier result: an image of that state or a later one, left out while there is none;
            also in live mode (extension).
        :param topics: prefixes of topics of the state stream: of what its level has, the reply
            shows only what rows with these topics do, and all `qpos` and `qvel` (extension
            ``step_topics``); None: all of it.
        :raises UnknownName: for a prefix that the handshake does not list (servers ignore those).
        :raises SimulationDiverged: when the simulation became unstable since the last step, or
            since the handshake (extension ``divergence``); see `raise_on_divergence`.
        :raises NotLive: with `while_live`, in another mode; nothing was done.
        :raises ExtensionMissing: for twists, topics, `while_live`, `while_paused` or snapshots,
            when the server cannot; nothing was sent.
        """
        self.require(
            'step',
            snapshot_level=observations == 'snapshot',
            step_twist=bool(twists),
            step_topics=topics is not None,
            step_while_live=while_live,
            step_while_paused=while_paused,
        )
        fields = {
            'n_steps': n_steps,
            'per_articulation': self._commands(ctrl, ctrl_map, control_mode, xfrc_applied, twists),
            'observations': observations,
            'while_paused': while_paused or None,
            'while_live': while_live or None,
            'include_cameras': include_cameras,
            'topics': None if topics is None else [*topics],
        }
        if timeout is None:
            timeout = max(self.timeout, STEP_TIMEOUT)
        result = StepResult(self.request_fields('step', fields, timeout))
        if 'divergence' in result.raw:
            self._check_divergence(result)
        return result

    def _check_divergence(self, result: StepResult) -> None:
        """Raise `SimulationDiverged` for a divergence that no reply has reported before."""
        found = result.divergence
        if found is None or found.count <= self._divergences:
            return
        self._divergences = found.count
        if self.raise_on_divergence:
            raise SimulationDiverged('step', found, result)

    def push_state(
        self,
        time: float,
        qpos: Vector | JointValues,
        qvel: Vector | JointValues,
        ctrl: Vector | None = None,
    ) -> StepResult:
        """
        Show a state that the caller integrated (puppet mode).

        Vectors have the order of the compiled model, `Handshake.qpos_joints`: a model of the
        caller's own may have another one.  By joint the order does not matter (extension).

        :param time: simulated seconds.
        :param qpos: shape (model.nq,), or joint -> its value or values: a free joint has 7 (m,
            quaternion w x y z), a ball 4, others 1; the others keep theirs.  Joints have their
            compiled names, or local ones where only one robot has such a joint.
        :param qvel: shape (model.nv,), or joint -> 6, 3 or 1 values.
        :raises DimMismatch: for a vector or joint values of another length; nothing was changed
            (stock servers ignore such a vector).
        :raises ExtensionMissing: by joint, when the server cannot; nothing was sent.
        """
        state: dict[str, Any] = {}
        for name, values in (('qpos', qpos), ('qvel', qvel)):
            if not isinstance(values, Mapping):
                state[name] = floats(values)
                continue
            self.require('push_state', push_by_joint=True)
            state[f'{name}_map'] = {joint: _value(value) for joint, value in values.items()}
        return StepResult(
            self.request(
                'step', mode='puppet', n_steps=1, time=float(time), ctrl=floats(ctrl), **state
            )
        )

    def reset(
        self,
        keyframe_name: str | None = None,
        seed: int | None = None,
        per_articulation_qpos: Mapping[str, Mapping[str, float]] | None = None,
        keep_time: bool = False,
        keep_state: bool = False,
        articulation: str | None = None,
    ) -> StepResult:
        """
        Reset the world.

        :param per_articulation_qpos: prefix -> {joint: first qpos value}.
        :param keep_time: do not set the simulated time back (extension ``keep_time``).
        :param keep_state: set back nothing but the time, without any other field (extension
            ``keep_state``).
        :param articulation: reset this robot alone; only with `keep_time`, and with no keyframe
            but its own (extension ``reset_robot``).
        :raises UnknownKeyframe: nothing was reset.
        :raises ExtensionMissing: when the server cannot; nothing was sent.
        """
        self.require(
            'reset',
            keep_time=keep_time,
            keep_state=keep_state,
            reset_robot=articulation is not None,
        )
        for prefix in per_articulation_qpos or ():
            self._known(prefix)
        return StepResult(
            self.request(
                'reset',
                keyframe_name=keyframe_name,
                seed=seed,
                per_articulation_qpos=per_articulation_qpos,
                keep_time=keep_time or None,
                keep_state=keep_state or None,
                articulation=articulation,
            )
        )

    def forward(self, observations: str | None = None) -> StepResult:
        """
        Recompute derived state without advancing time.

        :param observations: level of this reply only (extension ``forward_observations``).
        :raises ExtensionMissing: when the server cannot; nothing was sent.
        """
        self.require('forward', forward_observations=observations is not None)
        return StepResult(self.request('forward', observations=observations))

    def set_mode(self, mode: str) -> replies.ModeChange:
        """
        Switch to live, direct, puppet or auto.

        auto is live until the next plain client connects, which makes it direct.
        """
        return self._ask(replies.ModeChange, 'set_mode', mode=mode)

    def set_paused(self, paused: bool) -> bool:
        """Pause or resume; return the new state."""
        return self._ask_for('paused', bool, 'set_paused', paused=paused)

    def e_stop(self, engaged: bool = True) -> bool:
        """
        Engage or release the e-stop of the server (extension ``e_stop``); return its state.

        While it is engaged, robots stand still, and commands that move something raise
        `EStopEngaged`, from every client.  Releasing starts nothing.
        """
        self.require('e_stop')
        return self._ask_for('engaged', bool, 'e_stop', engaged=engaged)

    def set_navigation_target(
        self, articulation: str, kind: str, x: float, y: float, yaw: float
    ) -> int:
        """
        Announce a navigation target, which the ROS bridge publishes; return its id.

        :param kind: ``goal``: where the robot is to go; ``initial_pose``: where it is.
        :param x, y: m, and `yaw` rad, in the world frame.
        :raises ExtensionMissing: when the server cannot (extension ``navigation_targets``).
        """
        self.require('set_navigation_target', navigation_targets=True)
        fields = {'articulation': articulation, 'kind': kind, 'x': x, 'y': y, 'yaw': yaw}
        return self._ask_for('id', int, 'set_navigation_target', **fields)

    def set_sim_speed(self, percent: float) -> float:
        """Set the speed of live mode in percent of real time; return the speed that was set."""
        return self._ask_for('percent', float, 'set_sim_speed', percent=float(percent))

    def set_control_source(self, source: str, articulation: str | None = None) -> str:
        """Select the source of setpoints, ``zmq`` or ``ui``; return the scope of the change."""
        return self._ask_for(
            'scope', str, 'set_control_source', source=source, articulation=articulation
        )

    def set_twist(
        self,
        articulation: str,
        linear: Vector = (0.0, 0.0, 0.0),
        angular: Vector = (0.0, 0.0, 0.0),
        timeout: float | None = None,
        wall: WallAge | None = None,
        resets: int | None = None,
    ) -> Twist:
        """
        Command a velocity in the base frame.

        :param linear: vx, vy in m/s; a third slot is ignored.
        :param angular: the third slot is the yaw rate in rad/s.
        :param timeout: seconds of simulated time after which the server stops the robot
            (extension ``twist_timeout``); None means never.
        :param wall: maximum age by the wall clock (extension ``wall_timeout``); None: any age.
        :param resets: `Snapshot.resets` of the state that it was chosen for (extension
            ``reset_count``): refused if the world was reset since then; None: always accepted.
        :raises StaleCommand: when it is too old.
        :raises ExtensionMissing: when the server cannot; nothing was sent.
        """
        self.require(
            'set_twist',
            twist_timeout=timeout is not None,
            wall_timeout=wall is not None,
            reset_count=resets is not None,
        )
        fields = {
            'articulation': articulation,
            'linear': floats(linear),
            'angular': floats(angular),
            'timeout': None if timeout is None else float(timeout),
            'resets': resets,
            **wall_fields(wall),
        }
        return read_twist(place_of(self.request_fields('set_twist', fields)))

    def set_qpos(
        self, target: str, qpos: Vector, target_by: str | None = None
    ) -> replies.QposWritten:
        """
        Write the positions of one articulation, or the 7 slots of its free base.

        :param target: actor id, or actor name with ``target_by='actor_name'``.
        :raises DimMismatch: for a vector of another length.
        """
        return self._ask(
            replies.QposWritten, 'set_qpos', target=target, qpos=floats(qpos), target_by=target_by
        )

    def set_mocap_pose(
        self, body: str, pos: Vector | None = None, quat: Vector | None = None
    ) -> replies.MocapPose:
        """Move a mocap body (compiled name): world metres and/or quaternion wxyz."""
        return self._ask(
            replies.MocapPose, 'set_mocap_pose', body=body, pos=floats(pos), quat=floats(quat)
        )

    def read_mocap_pose(self, body: str) -> replies.MocapPose:
        """Return the pose of a mocap body (compiled name)."""
        return self._ask(replies.MocapPose, 'read_mocap_pose', body=body)

    def get_contacts(
        self,
        max_contacts: int | None = None,
        *,
        body1: str | None = None,
        body2: str | None = None,
        geom1: str | None = None,
        geom2: str | None = None,
    ) -> replies.Contacts:
        """Return active contacts, filtered by compiled names (all given ones must match)."""
        wanted = {'body1': body1, 'body2': body2, 'geom1': geom1, 'geom2': geom2}
        chosen = {key: name for key, name in wanted.items() if name is not None}
        return self._ask(
            replies.Contacts, 'get_contacts', max_contacts=max_contacts, filter=chosen or None
        )

    def list_keyframes(self) -> tuple[replies.Keyframe, ...]:
        """Return the keyframes of the compiled model."""
        return self._ask_for('keyframes', tuple[replies.Keyframe, ...], 'list_keyframes')

    def configure_controller(
        self, articulation: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Change some of the controller's parameters, or none; return all of them."""
        given = dict(params or {})
        return self._ask_for(
            'params',
            dict[str, Any],
            'configure_controller',
            articulation=articulation,
            params=given,
        )

    def set_sim_options(self, **options: Any) -> dict[str, Any]:
        """Change physics options (SI units); return all current options."""
        return self._ask_for('options', dict[str, Any], 'set_sim_options', options=options)

    def _known(self, prefix: str) -> str:
        robots = self.handshake.articulations
        if prefix not in robots:
            raise UnknownName('articulation', prefix, robots)
        return prefix

    def _commands(
        self,
        ctrl: Mapping[str, Vector] | Vector | None,
        ctrl_map: Mapping[str, Mapping[str, float]] | None,
        control_mode: Mapping[str, str] | str | None,
        xfrc_applied: Mapping[str, Mapping[str, Vector]] | None,
        twists: Mapping[str, Mapping[str, Any]] | None,
    ) -> dict[str, dict[str, Any]] | None:
        """Return the `per_articulation` block of a step, None without commands."""
        if not (twists or ctrl_map or control_mode or xfrc_applied) and ctrl is None:
            return None
        robots = self.handshake.articulations
        if ctrl is not None and not isinstance(ctrl, Mapping):
            if len(robots) != 1:
                raise UnknownName('articulation', '(ctrl names none)', robots)
            ctrl = {next(iter(robots)): ctrl}
        if isinstance(control_mode, str):
            control_mode = dict.fromkeys(robots, control_mode)
        blocks: dict[str, dict[str, Any]] = {}
        for prefix, values in (ctrl or {}).items():
            blocks.setdefault(self._known(prefix), {})['ctrl'] = floats(values)
        for key, group in (
            ('ctrl_map', ctrl_map),
            ('control_mode', control_mode),
            ('xfrc_applied', xfrc_applied),
            ('twist', twists),
        ):
            for prefix, value in (group or {}).items():
                blocks.setdefault(self._known(prefix), {})[key] = value
        return blocks or None
