# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The world `soccer` in other sizes: teams of 1 to 11, on the field of the page or of the league.

soccer.xml and soccer.yaml of this folder are what `scene_text` and `sidecar_text` return for the
field `page` and one player a side.  x points to the right goal, y to the far side line.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import math
import pathlib
import shutil

from urlab_ros_bridge.models.nao_types import NAO_TYPES
from urlab_ros_bridge.models.nao_types import player_text
from urlab_ros_bridge.models.nao_types import UnknownNaoType
from urlab_ros_bridge.wire.errors import UnknownName

TEAM_SIZES = range(1, 12)
TEAMS = ('left', 'right')
PLAYER_FILE = 'soccer_player.xml'
ROBOT_FILES = ('soccer_left.xml', 'soccer_right.xml', PLAYER_FILE)


@dataclass(frozen=True)
class Pitch:
    """
    A field and its ball; lengths in m, mass in kg.

    :ivar circle: radius of the centre circle, the distance to keep from a free kick.
    :ivar border: width of the grass around the lines.
    """

    length: float
    width: float
    circle: float
    border: float
    goal_width: float = 2.1
    goal_depth: float = 0.6
    goal_height: float = 0.8
    penalty_length: float = 1.8
    penalty_width: float = 6.0
    ball_radius: float = 0.042
    ball_mass: float = 0.026


# The example of the Network Protocol page; the field of the league as its wiki has it.
PITCHES = {'page': Pitch(18.0, 12.0, 1.3, 2.0), 'league': Pitch(30.0, 20.0, 2.0, 3.0)}

# Where players stand before an agent beams them, left team: shares of half the length and width.
_ALONE = ((-0.1, 0.0),)
_FORMATION = (
    (-0.94, 0.0), (-0.1, 0.0), (-0.5, 0.3), (-0.5, -0.3), (-0.3, 0.6), (-0.3, -0.6),
    (-0.75, 0.25), (-0.75, -0.25), (-0.12, 0.8), (-0.12, -0.8), (-0.35, 0.0),
)  # fmt: skip

_LINE = 0.025  # half the width of a line


class UnknownPitch(UnknownName):
    """A name is not one of the fields."""

    def __init__(self, name: object) -> None:
        super().__init__('field', name, list(PITCHES))


def start_places(pitch: Pitch, players: int) -> Iterator[tuple[str, float, float, bool]]:
    """Yield name, x, y (m) and whether it looks to the left, for each player of both teams."""
    shares = _ALONE if players == 1 else _FORMATION[:players]
    for side, team in zip((1.0, -1.0), TEAMS, strict=True):
        for number, (along, across) in enumerate(shares, 1):
            x, y = side * along * pitch.length / 2, side * across * pitch.width / 2
            yield f'{team}_{number}', x, y + 0.0, side < 0  # no -0


def sidecar_text(
    pitch: Pitch, players: int, scene: str = 'soccer.xml', types: Sequence[int] = ()
) -> str:
    """
    Return the YAML sidecar of the world with `players` a side.

    :param types: of the players 1, 2, ... of both teams; 0 for those beyond.
    """
    lines = [
        f'# Robot soccer, {players} a side; written by `urlab soccer`.',
        f'scene: {scene}',
        'start_keyframe: home',
        'articulations:',
    ]
    for name, x, y, turned in start_places(pitch, players):
        team, _, number = name.partition('_')
        kind = types[int(number) - 1] if int(number) <= len(types) else 0
        quat = '[0, 0, 0, 1]' if turned else '[1, 0, 0, 0]'
        lines += [
            f'  - prefix: {name}',
            f'    model: {_robot_file(team, kind)}',
            f'    pose: {{pos: [{x:g}, {y:g}, 0], quat: {quat}}}',
        ]
        lines += _SETTINGS if name == 'left_1' else _SHARED
    return '\n'.join([*lines, *_CAMERAS, ''])


_SETTINGS = [
    '    cameras: &cameras',
    '      head_rgb: {mode: real, resolution: [320, 240], rate: 15}',
    '    frames: &frames {base: base_link, imu: imu_link}',
    '    covariances: &covariances',
    '      orientation_stddev: 0.01            # rad',
    '      angular_velocity_stddev: 0.005      # rad/s',
    '      linear_acceleration_stddev: 0.05    # m/s^2',
    '      magnetic_field_stddev: 1.0e-6       # T',
]
_CAMERAS = [
    'global_cameras:',
    '  overview: {mode: real, resolution: [640, 480], rate: 15}',
    '  centre: {mode: real, resolution: [640, 480], rate: 15}',
]
_SHARED = ['    cameras: *cameras', '    frames: *frames', '    covariances: *covariances']


def scene_text(pitch: Pitch) -> str:
    """Return the MJCF of field, goals and ball."""
    half_x, half_y = pitch.length / 2, pitch.width / 2
    grass = f'{half_x + pitch.border:g} {half_y + pitch.border:g}'
    body = [*_lines(pitch), *_marks(pitch), *_goal(pitch, 'left'), *_goal(pitch, 'right')]
    return _SCENE.format(
        grass=grass,
        extent=f'{0.4 * pitch.length:g}',
        ball_z=pitch.ball_radius,
        far=f'{2.5 * pitch.length / (0.4 * pitch.length):g}',
        eye=f'{-0.78 * pitch.length:.4g} {0.46 * pitch.length:.4g}',
        numbers='\n'.join(f'    {line}' for line in _numbers(pitch)),
        goals='\n'.join(f'    {line}' for line in body),
        ball='\n'.join(f'      {line}' for line in _ball(pitch)),
    )


def write_world(
    folder: pathlib.Path, players: int, field: str, types: Sequence[int] = ()
) -> pathlib.Path:
    """
    Write a self-contained world; return the path of its sidecar.

    :param field: key of `PITCHES`.
    :param players: of `TEAM_SIZES`.
    :param types: types of the Nao of the players 1, 2, ... of both teams; 0 for those beyond.
    :raises UnknownPitch, UnknownNaoType: nothing was written.
    """
    if field not in PITCHES:
        raise UnknownPitch(field)
    for kind in types:
        if not 0 <= kind < len(NAO_TYPES):
            raise UnknownNaoType(kind)
    folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).resolve().parent
    for name in ROBOT_FILES:
        shutil.copyfile(here / name, folder / name)
    player = (here / PLAYER_FILE).read_text(encoding='utf-8')
    for kind in {*types} - {0}:
        own = PLAYER_FILE.replace('.xml', f'_{kind}.xml')
        (folder / own).write_text(player_text(player, kind), encoding='utf-8')
        for team in TEAMS:
            text = (here / _robot_file(team, 0)).read_text(encoding='utf-8')
            (folder / _robot_file(team, kind)).write_text(
                text.replace(PLAYER_FILE, own), encoding='utf-8'
            )
    pitch = PITCHES[field]
    (folder / 'soccer.xml').write_text(scene_text(pitch), encoding='utf-8')
    sidecar = folder / 'soccer.yaml'
    sidecar.write_text(sidecar_text(pitch, players, types=types), encoding='utf-8')
    return sidecar


def _robot_file(team: str, kind: int) -> str:
    return f'soccer_{team}_{kind}.xml' if kind else f'soccer_{team}.xml'


def _box(x: float, y: float, half_x: float, half_y: float, turn: float = 0.0) -> str:
    turned = f' euler="0 0 {turn:.4g}"' if turn else ''
    return (
        f'<geom class="line" pos="{x:.4g} {y:.4g} 0.001" '
        f'size="{half_x:.4g} {half_y:.4g} 0.001"{turned}/>'
    )


def _numbers(pitch: Pitch) -> Iterator[str]:
    values = {
        'field_length': pitch.length,
        'field_width': pitch.width,
        'goal_width': pitch.goal_width,
        'goal_depth': pitch.goal_depth,
        'goal_height': pitch.goal_height,
        'border_size': pitch.border,
        'free_kick_distance': pitch.circle,
        'ball_radius': pitch.ball_radius,
        'ball_mass': pitch.ball_mass,
    }
    for name, value in values.items():
        yield f'<numeric name="{name}" data="{value:g}"/>'


def _lines(pitch: Pitch) -> Iterator[str]:
    half_x, half_y = pitch.length / 2, pitch.width / 2
    for y in (half_y, -half_y):
        yield _box(0, y, half_x + _LINE, _LINE)
    for x in (-half_x, 0.0, half_x):
        yield _box(x, 0, _LINE, half_y)
    for side in (-1, 1):
        front = side * (half_x - pitch.penalty_length)
        yield _box(front, 0, _LINE, pitch.penalty_width / 2)
        for y in (pitch.penalty_width / 2, -pitch.penalty_width / 2):
            yield _box(
                side * (half_x - pitch.penalty_length / 2), y, pitch.penalty_length / 2, _LINE
            )
    pieces = 40
    for piece in range(pieces):
        turn = 2 * math.pi * (piece + 0.5) / pieces
        x, y = pitch.circle * math.cos(turn), pitch.circle * math.sin(turn)
        yield _box(x, y, _LINE, 1.02 * pitch.circle * math.tan(math.pi / pieces), turn)
    yield '<geom class="spot" pos="0 0 0.0015" size="0.06 0.0015"/>'


def _marks(pitch: Pitch) -> Iterator[str]:
    """Yield the landmarks that agents see: corner flags, and the tops of the posts."""
    for side, sign in (('L', -1), ('R', 1)):
        for number, across in ((1, 1), (2, -1)):
            x, y = sign * pitch.length / 2, across * pitch.width / 2
            yield f'<site name="F{number}{side}" pos="{x:g} {y:g} 0" size="0.02" group="5"/>'
            y = across * pitch.goal_width / 2
            yield (
                f'<site name="G{number}{side}" pos="{x:g} {y:g} {pitch.goal_height:g}" '
                'size="0.02" group="5"/>'
            )


def _goal(pitch: Pitch, side: str) -> Iterator[str]:
    away = -1 if side == 'left' else 1
    half, high, deep = pitch.goal_width / 2, pitch.goal_height, away * pitch.goal_depth
    yield f'<body name="{side}_goal" pos="{away * pitch.length / 2:g} 0 0">'
    for y in (half, -half):
        yield f'  <geom class="post" fromto="0 {y:g} 0 0 {y:g} {high:g}"/>'
    yield f'  <geom class="post" fromto="0 {half:g} {high:g} 0 {-half:g} {high:g}"/>'
    for y in (half, -half):
        yield f'  <geom class="rod" fromto="{deep:g} {y:g} 0.01 {deep:g} {y:g} {high:g}"/>'
        yield f'  <geom class="rod" fromto="0 {y:g} {high:g} {deep:g} {y:g} {high:g}"/>'
        yield f'  <geom class="rod" fromto="0 {y:g} 0.01 {deep:g} {y:g} 0.01"/>'
    yield f'  <geom class="rod" fromto="{deep:g} {half:g} {high:g} {deep:g} {-half:g} {high:g}"/>'
    yield f'  <geom class="rod" fromto="{deep:g} {half:g} 0.01 {deep:g} {-half:g} 0.01"/>'
    middle = deep / 2
    for y in (half, -half):
        yield (
            f'  <geom class="net" pos="{middle:g} {y:g} {high / 2:g}" '
            f'size="{abs(middle):g} 0.004 {high / 2:g}"/>'
        )
    yield (
        f'  <geom class="net" pos="{deep:g} 0 {high / 2:g}" size="0.004 {half:g} {high / 2:g}"/>'
    )
    yield (
        f'  <geom class="net" pos="{middle:g} 0 {high:g}" size="{abs(middle):g} {half:g} 0.004"/>'
    )
    yield '</body>'


def _ball(pitch: Pitch) -> Iterator[str]:
    """Yield a sphere that rolls, and dark patches at the corners of an icosahedron."""
    radius = pitch.ball_radius
    yield (f'<geom name="ball" class="ball" size="{radius:g}" mass="{pitch.ball_mass:g}"/>')
    golden = (1 + math.sqrt(5)) / 2
    for one in (-1, 1):
        for two in (-golden, golden):
            for corner in ((0, one, two), (one, two, 0), (two, 0, one)):
                x, y, z = (0.975 * radius * part / math.hypot(1, golden) for part in corner)
                yield (
                    f'<geom class="patch" pos="{x:.5f} {y:.5f} {z:.5f}" '
                    f'zaxis="{corner[0]:.4g} {corner[1]:.4g} {corner[2]:.4g}"/>'
                )


_SCENE = """\
<mujoco model="soccer_world">
  <!--
    Field, goals and ball for robot soccer; written by urlab_ros_bridge/models/soccer.py.  x points
    to the right goal.  The sites F1L ... G2R are the landmarks that agents of SimSpark see.
  -->
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"
          magnetic="0 0.21 -0.43"/>
  <!-- What gateways report to their clients about the field. -->
  <custom>
{numbers}
  </custom>
  <statistic center="0 0 0.3" extent="{extent}" meansize="0.1"/>
  <visual>
    <headlight ambient="0.32 0.32 0.32" diffuse="0.20 0.20 0.20" specular="0.05 0.05 0.05"/>
    <map znear="0.004" zfar="{far}" haze="0.4" shadowclip="1.7" shadowscale="0.6"/>
    <quality shadowsize="4096" offsamples="4" numslices="28"/>
    <global azimuth="90" elevation="-30" offwidth="1280" offheight="960"/>
    <rgba haze="0.82 0.88 0.90 1"/>
  </visual>

  <default>
    <default class="deco">
      <geom group="2" contype="0" conaffinity="0"/>
      <default class="line">
        <geom type="box" material="white"/>
      </default>
      <default class="spot">
        <geom type="cylinder" material="white"/>
      </default>
      <default class="rod">
        <geom type="capsule" size="0.008" material="rod"/>
      </default>
      <default class="patch">
        <geom type="ellipsoid" size="0.0125 0.0125 0.0022" material="black" mass="0"/>
      </default>
    </default>
    <default class="post">
      <geom type="capsule" size="0.025" material="post"/>
    </default>
    <default class="net">
      <geom type="box" material="net" priority="3" solref="0.01 3" friction="0.05"/>
    </default>
    <default class="ball">
      <!-- Rolls out on the grass, at about 0.3 m/s^2. -->
      <geom type="sphere" priority="2" condim="6" friction="0.7 0.002 0.0013"
            solref="0.008 0.5" material="ball"/>
    </default>
  </default>

  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.26 0.50 0.80"
             rgb2="0.90 0.94 0.96" width="256" height="1536"/>
    <texture name="grass" type="2d" builtin="checker" rgb1="0.16 0.42 0.15" rgb2="0.19 0.48 0.17"
             width="256" height="256"/>
    <material name="grass" texture="grass" texrepeat="0.5 0.5" texuniform="true" specular="0.02"/>
    <material name="white" rgba="0.94 0.95 0.94 1" specular="0.05"/>
    <material name="post" rgba="0.95 0.95 0.96 1" specular="0.4" shininess="0.4"/>
    <material name="rod" rgba="0.62 0.64 0.67 1" specular="0.3"/>
    <material name="net" rgba="0.95 0.97 1 0.22" specular="0"/>
    <material name="ball" rgba="0.97 0.97 0.96 1" specular="0.4" shininess="0.5"/>
    <material name="black" rgba="0.07 0.07 0.08 1" specular="0.4" shininess="0.5"/>
  </asset>

  <worldbody>
    <light name="sun" directional="true" pos="6 -8 18" dir="-0.3 0.4 -1" castshadow="true"
           diffuse="0.66 0.64 0.58" specular="0.2 0.2 0.2" ambient="0.05 0.05 0.05"/>
    <light name="fill" directional="true" pos="-4 4 6" dir="0.5 -0.4 -1" castshadow="false"
           diffuse="0.18 0.19 0.23" specular="0 0 0"/>
    <camera name="overview" pos="0 {eye}" xyaxes="1 0 0 0 0.50 0.866" fovy="50"
            resolution="640 480"/>
    <camera name="centre" pos="0 -3 1.35" xyaxes="1 0 0 0 0.33 0.944" fovy="50"
            resolution="640 480"/>

    <geom name="floor" type="plane" size="{grass} 0.1" material="grass" friction="1 0.005 0.0001"/>
{goals}

    <body name="ball" pos="0 0 {ball_z:g}">
      <freejoint name="ball_free"/>
{ball}
    </body>
  </worldbody>
</mujoco>
"""


__all__ = [
    'PITCHES', 'TEAMS', 'TEAM_SIZES', 'Pitch', 'UnknownPitch', 'scene_text', 'sidecar_text',
    'start_places', 'write_world',
]  # fmt: skip
