#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Film the bundled worlds at work: docs/images/film_NAME.webp, one for each.

A film is a generator: it commands the robots and yields once for every 20 ms that shall pass.  In
the environment of `make setup`:

    MUJOCO_GL=egl python docs/scripts/world_films.py [NAME ...]
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from pathlib import Path
import sys
from typing import NamedTuple

import mujoco
import numpy as np
from PIL import Image

sys.path.append(str(Path(__file__).parents[2] / 'examples'))

from simspark_client.motion import LEFT_KICK
from simspark_client.motion import STANCE

from urlab_ros_bridge.gateways.motion.ik import PoseSolver
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

IMAGES = Path(__file__).parents[1] / 'images'
SIZE = (480, 300)
PERIOD = 0.02  # s, from one command to the next
QUALITY = 50

Action = Iterator[None]


class Stage:
    """
    A bundled world that is commanded and stepped here.

    :ivar controls: what the server has between setpoints and actuators, by robot.
    """

    def __init__(self, name: str, keyframe: str = '') -> None:
        world = load_world(ServerConfig(world=name))
        self.model, self.data = world.model, world.data
        key = self.model.key(keyframe) if keyframe else None
        if key is not None:
            mujoco.mj_resetDataKeyframe(self.model, self.data, key.id)
            mujoco.mj_forward(self.model, self.data)
        self.controls: dict[str, ArticulationControl] = {}
        for spec in world.spec.articulations:
            robot = world.articulations[spec.prefix]
            self.controls[spec.prefix] = ArticulationControl(self.model, self.data, robot, spec)
            ctrl = key.ctrl if key is not None else world.start_ctrl(spec.prefix)
            self.controls[spec.prefix].reset(ctrl)

    def pass_time(self) -> None:
        """Step until the next command is due."""
        for _ in range(round(PERIOD / self.model.opt.timestep)):
            for control in self.controls.values():
                control.apply(False)
            mujoco.mj_step(self.model, self.data)

    def place(self, body: str) -> np.ndarray:
        """Return where a body is, m, shape (3,)."""
        return self.data.body(body).xpos

    def drive(self, robot: str, forward: float, turn: float = 0.0) -> None:
        """Send a twist, m/s and rad/s; it ends by itself."""
        twist = self.controls[robot].twist
        assert twist is not None
        twist.set((forward, 0.0), (0.0, 0.0, turn), self.data.time, 0.5)

    def aim(self, robot: str, targets: Mapping[str, float]) -> None:
        """Set setpoints by the names of the actuators."""
        control = self.controls[robot]
        names = list(control.articulation.actuators)
        for name, value in targets.items():
            control.setpoints['zmq'][names.index(name)] = value

    def aims(self, robot: str) -> dict[str, float]:
        """Return the setpoints of a robot."""
        control = self.controls[robot]
        names = list(control.articulation.actuators)
        return dict(zip(names, control.setpoints['zmq'].tolist(), strict=True))

    def heading(self, body: str) -> float:
        """Return where the x axis of a body points, rad."""
        return math.atan2(*self.data.body(body).xmat.reshape(3, 3)[1::-1, 0])


def wait(seconds: float, act: Callable[[float], None] = lambda _: None) -> Action:
    """Let time pass; `act` is called with the share of it that has passed."""
    count = round(seconds / PERIOD)
    for step in range(1, count + 1):
        act(step / count)
        yield


def together(*actions: Action) -> Action:
    """Let several things happen at once, until the last one has ended."""
    running = list(actions)
    while running:
        running = [action for action in running if next(action, StopIteration) is None]
        if running:
            yield


def after(seconds: float, action: Action) -> Action:
    """Begin later."""
    yield from wait(seconds)
    yield from action


def straight(
    stage: Stage,
    robot: str,
    targets: Mapping[str, float],
    seconds: float,
    course: Callable[[float], float] = lambda share: share,
) -> Action:
    """Lead setpoints to others, at an even speed or on another course from 0 to 1."""
    start = stage.aims(robot)
    return wait(
        seconds,
        lambda share: stage.aim(
            robot,
            {name: start[name] + (value - start[name]) * course(share)
             for name, value in targets.items()},
        ),
    )  # fmt: skip


def glide(stage: Stage, robot: str, targets: Mapping[str, float], seconds: float) -> Action:
    """Lead setpoints to others, slowly at both ends."""
    return straight(stage, robot, targets, seconds, lambda share: share * share * (3 - 2 * share))


def go_to(stage: Stage, robot: str, places: Sequence[tuple[float, float]]) -> Action:
    """Drive to one place after the other, and stop."""
    base = f'{robot}_base_link'
    for place in places:
        while True:
            away = np.array(place) - stage.place(base)[:2]
            if math.hypot(*away) < 0.15:
                break
            error = math.remainder(math.atan2(away[1], away[0]) - stage.heading(base), math.tau)
            stage.drive(robot, 0.9 * max(math.cos(error), 0.0) ** 2, 2.5 * error)
            yield
    yield from wait(0.5, lambda _: stage.drive(robot, 0.0))


def rover(stage: Stage) -> Action:
    """Push the pallet on, back off and drive to the target."""
    while stage.place('pallet')[0] < 2.35:
        stage.drive('rover', 0.9)
        yield
    yield from wait(1.0, lambda _: stage.drive('rover', -0.7))
    yield from go_to(stage, 'rover', [(1.7, -1.1), (3.0, -1.6)])


def quadruped(stage: Stage) -> Action:
    """Trot, be pushed, and turn."""
    trunk = stage.model.body('quadruped_base_link').id

    def trot(share: float) -> None:
        stage.drive('quadruped', 0.5)
        # By 110 N to its left, for a tenth of a second.
        stage.data.xfrc_applied[trunk, 1] = 110.0 * (0.55 < share <= 0.6)

    yield from wait(0.4)
    yield from wait(2.2, trot)
    yield from wait(1.8, lambda _: stage.drive('quadruped', 0.3, 1.0))
    yield from wait(0.6, lambda _: stage.drive('quadruped', 0.0))


def quadruped_rooms(stage: Stage) -> Action:
    """Trot through the door, and turn in the other room."""
    yield from wait(0.3)
    yield from go_to(stage, 'quadruped', [(0.7, 0.5), (2.2, 0.5)])
    yield from wait(0.8, lambda _: stage.drive('quadruped', 0.0, 1.0))


class Hinge(NamedTuple):
    """Where a joint has its values."""

    qpos_address: int
    dof_address: int


class Hand:
    """One arm of the world `bimanual`, by the place of its hand, which points down."""

    JOINTS = (
        'shoulder_pan', 'shoulder_lift', 'elbow', 'forearm_roll', 'wrist_pitch', 'wrist_roll',
    )  # fmt: skip
    DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])

    def __init__(self, stage: Stage, side: str) -> None:
        self._stage, self._side = stage, side
        joints = [stage.model.joint(f'bimanual_{side}_{name}') for name in self.JOINTS]
        hinges = [Hinge(int(j.qposadr[0]), int(j.dofadr[0])) for j in joints]
        self._solver = PoseSolver(stage.model, 'site', f'bimanual_{side}_tcp', hinges)

    def to(self, place: Sequence[float], seconds: float) -> Action:
        """Move to a place, m."""
        names = [f'{self._side}_{name}' for name in self.JOINTS]
        aims = self._stage.aims('bimanual')
        seed = np.array([aims[name] for name in names])
        qpos = np.array(self._stage.data.qpos)
        found = self._solver.solve(qpos, seed, np.array(place), self.DOWN)
        yield from glide(
            self._stage, 'bimanual', dict(zip(names, found.tolist(), strict=True)), seconds
        )

    def open(self, width: float) -> Action:
        """Open or close the fingers, each by so much, m."""
        return glide(self._stage, 'bimanual', {f'{self._side}_gripper': width}, 0.4)

    def carry(self, start: Sequence[float], end: Sequence[float], lift: float) -> Action:
        """Take what is at a place, put it down at another, and go back."""
        home = tuple(self._stage.data.site(f'bimanual_{self._side}_tcp').xpos)
        for (x, y, z), width in ((start, 0.0), (end, 0.044)):
            yield from self.to((x, y, z + lift), 0.8)
            yield from self.to((x, y, z), 0.6)
            yield from self.open(width)
            yield from self.to((x, y, z + lift), 0.5)
        yield from self.to(home, 0.7)


def bimanual(stage: Stage) -> Action:
    """Put a cube and a can into the tray."""
    left, right = Hand(stage, 'left'), Hand(stage, 'right')
    put(stage, 'tray_free', (0.48, 0.0))
    yield from together(
        left.carry((0.50, 0.24, 0.768), (0.48, 0.06, 0.778), 0.12),
        after(2.2, right.carry((0.52, -0.25, 0.81), (0.48, -0.05, 0.82), 0.10)),
    )


def fleet(stage: Stage) -> Action:
    """Let the quadruped get up while the rovers set off, each its own way."""
    index = stage.controls['quadruped'].articulation.ctrl
    stand = stage.model.key('quadruped_stand').ctrl[index]
    names = stage.aims('quadruped')
    yield from together(
        after(0.5, glide(stage, 'quadruped', dict(zip(names, stand, strict=True)), 1.5)),
        go_to(stage, 'rover_1', [(1.1, -0.7), (2.4, -1.3)]),
        go_to(stage, 'rover_2', [(-0.5, -0.6), (-2.2, -0.4), (-3.2, 0.0)]),
    )


def tentacle(stage: Stage) -> Action:
    """Sway, reach for the amber ball and roll it away."""
    links = 14
    home = stage.aims('tentacle')

    def sway(share: float) -> None:
        swell = math.sin(math.pi * share)
        for link in range(1, links + 1):
            turn = math.tau * (1.5 * share - link / links)
            stage.aim('tentacle', {
                f'bend_{link:02d}_x': home[f'bend_{link:02d}_x'] + 0.16 * swell * math.sin(turn),
                f'bend_{link:02d}_y': home[f'bend_{link:02d}_y'] + 0.12 * swell * math.cos(turn),
            })  # fmt: skip

    def bent(towards: float) -> dict[str, float]:
        """Return the setpoints that bend it down to a side, degrees to the left of x."""
        lean = math.radians(towards)
        pose = {}
        for link in range(1, links + 1):
            bend = 0.45 if link <= 5 else 0.03
            pose[f'bend_{link:02d}_x'] = -math.sin(lean) * bend
            pose[f'bend_{link:02d}_y'] = math.cos(lean) * bend
        return pose

    yield from wait(3.0, sway)
    yield from glide(stage, 'tentacle', bent(-80.0), 1.6)
    yield from wait(1.5, lambda share: stage.aim('tentacle', bent(-80.0 + 90.0 * share)))
    yield from glide(stage, 'tentacle', home, 1.6)


def soccer(stage: Stage) -> Action:
    """Shoot a goal, while the keeper watches."""
    radians = {name: math.radians(angle) for name, angle in STANCE.items()}
    cheer = {'lae1': math.radians(80.0), 'rae1': math.radians(80.0)}
    stage.aim('left_1', radians)
    put(stage, 'ball_free', (5.6, 0.0))
    put(stage, 'left_1_base', (5.39, -0.035))
    put(stage, 'right_1_base', (8.6, 0.75))

    def watch() -> Action:
        while True:
            away = stage.place('ball') - stage.place('right_1_head')
            turn = math.atan2(away[1], away[0]) - stage.heading('right_1_base_link')
            stage.aim('right_1', {'he1': math.remainder(turn, math.tau)})
            yield

    keeper = watch()

    def with_keeper(action: Action) -> Action:
        for _ in action:
            next(keeper)
            yield

    yield from with_keeper(wait(0.3))
    for seconds, pose in LEFT_KICK:
        targets = {name: math.radians(angle) for name, angle in pose.items()}
        yield from with_keeper(straight(stage, 'left_1', targets, seconds))
    yield from with_keeper(glide(stage, 'left_1', cheer, 0.6))
    yield from with_keeper(wait(0.6))


def put(stage: Stage, joint: str, place: tuple[float, float]) -> None:
    """Put a free body somewhere, at its height, m."""
    stage.data.joint(joint).qpos[:2] = place
    mujoco.mj_forward(stage.model, stage.data)


class View(NamedTuple):
    """Where the camera looks, m; from how far, m; and from which side, degrees as in MuJoCo."""

    place: Sequence[float]
    distance: float
    azimuth: float
    elevation: float


@dataclass(frozen=True)
class Film:
    """
    A film of a world.

    :ivar act: what happens; `ended` whether it has come to what the film shows.
    :ivar frame: s, from one picture to the next.
    """

    act: Callable[[Stage], Action]
    ended: Callable[[Stage], bool]
    view: Callable[[Stage], View]
    keyframe: str = ''
    frame: float = 0.08


def _quadruped_view(stage: Stage) -> View:
    x, y, _ = stage.place('quadruped_base_link')
    return View((x, y, 0.18), 1.25, 125.0, -12.0)


FILMS = {
    'rover': Film(
        rover,
        lambda stage: (
            stage.place('pallet')[0] > 2.3
            and math.dist(stage.place('rover_base_link')[:2], (3.0, -1.6)) < 0.2
        ),
        lambda _: View((1.6, -0.45, 0.1), 4.1, 65.0, -28.0),
        'rover_home',
    ),
    'quadruped': Film(
        quadruped,
        lambda stage: (
            stage.data.body('quadruped_base_link').xmat[8] > 0.98
            and stage.place('quadruped_base_link')[0] > 0.8
        ),
        _quadruped_view,
        'quadruped_stand',
        0.068,  # a fifth of the gait's cycle
    ),
    'quadruped_rooms': Film(
        quadruped_rooms,
        lambda stage: (
            stage.data.body('quadruped_base_link').xmat[8] > 0.98
            and stage.place('quadruped_base_link')[0] > 1.9
        ),
        lambda _: View((1.0, 0.35, 0.1), 3.9, 110.0, -34.0),
        'quadruped_stand',
    ),
    'bimanual': Film(
        bimanual,
        lambda stage: all(
            np.abs(stage.place(thing)[:2] - stage.place('tray')[:2]).max() < 0.09
            for thing in ('red_cube', 'blue_can')
        ),
        lambda _: View((0.42, 0.0, 0.93), 1.65, 192.0, -25.0),
        'bimanual_home',
    ),
    'fleet': Film(
        fleet,
        lambda stage: (
            stage.place('rover_1_base_link')[0] > 2.1
            and stage.place('rover_2_base_link')[0] < -2.9
            and stage.place('quadruped_base_link')[2] > 0.28
        ),
        lambda _: View((-0.55, -0.25, 0.0), 5.6, 80.0, -32.0),
        'quadruped_rest',
    ),
    'tentacle': Film(
        tentacle,
        lambda stage: math.dist(stage.place('amber_ball')[:2], (0.45, -0.35)) > 0.3,
        lambda _: View((0.20, -0.05, 0.34), 1.95, 140.0, -18.0),
        'tentacle_home',
    ),
    'soccer': Film(
        soccer,
        lambda stage: (
            stage.place('ball')[0] > 9.0
            and abs(stage.place('ball')[1]) < 1.05
            and stage.data.body('left_1_base_link').xmat[8] > 0.9
        ),
        lambda _: View((7.1, 0.15, 0.22), 3.1, 27.0, -14.0),
    ),
}


def play(film: Film, name: str, show: Callable[[Stage], None] = lambda _: None) -> Stage:
    """Let a film happen; `show` is called after each command's time."""
    stage = Stage(name, film.keyframe)
    for _ in film.act(stage):
        stage.pass_time()
        show(stage)
    return stage


def shoot(name: str) -> None:
    """Make the film of a world."""
    film, frames = FILMS[name], []
    camera = mujoco.MjvCamera()
    renderers: list[mujoco.Renderer] = []

    def show(stage: Stage) -> None:
        if stage.data.time < len(frames) * film.frame - 1e-9:
            return
        if not renderers:
            renderers.append(mujoco.Renderer(stage.model, SIZE[1], SIZE[0]))
        (renderer,) = renderers
        camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = film.view(stage)
        renderer.update_scene(stage.data, camera)
        frames.append(Image.fromarray(renderer.render()))

    stage = play(film, name, show)
    renderers[0].close()
    if not film.ended(stage):
        raise SystemExit(f'{name}: it did not end as it should')
    first, *others = frames
    file = IMAGES / f'film_{name}.webp'
    first.save(
        file, save_all=True, append_images=others, duration=round(film.frame * 1000), loop=0,
        quality=QUALITY, method=6,
    )  # fmt: skip
    print(f'{file.name}: {len(frames)} frames, {file.stat().st_size // 1024} kB', flush=True)


if __name__ == '__main__':
    for chosen in sys.argv[1:] or FILMS:
        shoot(chosen)
