# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The heterogeneous players of the league: soccer_player.xml as Nao of type 1 to 4.

Lengths and speeds are those of SimSpark's table of robot types (naorobottypes.rb).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.wire.errors import UnknownName

# Of type 0, as in soccer_player.xml: lengths in m, masses in kg.
_THIGH, _SHANK, _UPPER_ARM = 0.12, 0.1, 0.09
_FOOT, _HEEL, _SOLE, _FOOT_MASS = 0.16, -0.05, -0.05, 0.2
_HOME_KNEE = math.radians(25.0)


@dataclass(frozen=True)
class NaoType:
    """
    What distinguishes a type from type 0; m and rad/s.

    :ivar leg: by how much thigh and shank are longer, each.
    :ivar hip: distance of the hips from the middle; `elbow` of the elbow from the upper arm.
    :ivar ankle_pitch, ankle_roll: the fastest speed of these joints.
    :ivar toe: length of the toe, 0 without one.
    """

    leg: float = 0.0
    hip: float = 0.055
    elbow: float = 0.07
    ankle_pitch: float = 6.1395
    ankle_roll: float = 6.1395
    toe: float = 0.0


NAO_TYPES = (
    NaoType(),
    NaoType(leg=0.01832, elbow=0.10664),
    NaoType(ankle_pitch=8.80667, ankle_roll=3.47234),
    NaoType(leg=0.027868424, hip=0.072954143, elbow=0.125736848),
    NaoType(toe=0.035517656),
)


class UnknownNaoType(UnknownName):
    """A number is not one of the types of the Nao."""

    def __init__(self, number: object) -> None:
        super().__init__('type of the Nao', str(number), [str(n) for n in range(len(NAO_TYPES))])


def player_text(text: str, number: int) -> str:
    """
    Return the MJCF of a player of a type.

    :param text: that of type 0, soccer_player.xml.
    :raises UnknownNaoType: for another number than 0 to 4.
    """
    if not 0 <= number < len(NAO_TYPES):
        raise UnknownNaoType(number)
    root = ElementTree.fromstring(text)
    kind = NAO_TYPES[number]
    body = {item.get('name', ''): item for item in root.iter('body')}
    for side, sign in (('l', 1.0), ('r', -1.0)):
        _set(body[f'{side}hip1'], 'pos', 1, sign * kind.hip)
        _set(body[f'{side}elbow'], 'pos', 0, _UPPER_ARM - 0.07 + kind.elbow)
        _stretch(body[f'{side}upperarm'], 0, 1 + (kind.elbow - 0.07) / _UPPER_ARM)
        for name, below, length in (('thigh', 'shank', _THIGH), ('shank', 'ankle', _SHANK)):
            _set(body[side + below], 'pos', 2, -length - kind.leg)
            _stretch(body[side + name], 2, 1 + kind.leg / length)
        thigh = body[f'{side}thigh']
        for item in (thigh.find('inertial'), thigh.find("geom[@class='hit']")):
            if item is not None:
                _set(item, 'pos', 2, -0.04 - kind.leg)
        if kind.toe:
            _add_toe(root, body[f'{side}foot'], side, kind.toe)
    _set(body['base_link'], 'pos', 2, 0.385 + 2 * kind.leg)
    key = root.find('keyframe/key')
    assert key is not None
    _set(key, 'qpos', 2, 0.3583 + 2 * kind.leg * math.cos(_HOME_KNEE))
    if kind.toe:
        for name in ('qpos', 'ctrl'):
            values = key.get(name, '').split()
            key.set(name, ' '.join([*values[:-6], '0', *values[-6:], '0']))
    custom = root.find('custom')
    assert custom is not None
    custom.clear()
    speeds = {'le5': kind.ankle_pitch, 'le6': kind.ankle_roll}
    numbers = {'nao_type': float(number)}
    numbers |= {f'speed_{s}{joint}': speed for s in 'lr' for joint, speed in speeds.items()}
    for name, value in numbers.items():
        ElementTree.SubElement(custom, 'numeric', name=name, data=f'{value:g}')
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode') + '\n'


def _numbers(item: ElementTree.Element, name: str) -> list[float]:
    return [float(word) for word in item.get(name, '').split()]


def _write(item: ElementTree.Element, name: str, values: list[float]) -> None:
    item.set(name, ' '.join(f'{value:.9g}' for value in values))


def _set(item: ElementTree.Element, name: str, index: int, value: float) -> None:
    values = _numbers(item, name)
    values[index] = value
    _write(item, name, values)


def _change(item: ElementTree.Element, change: Callable[[int, float], float]) -> None:
    """Change the coordinates of a geom; `change` takes an axis and a value."""
    for name in ('pos', 'fromto'):
        if item.get(name):
            values = _numbers(item, name)
            _write(item, name, [change(axis % 3, value) for axis, value in enumerate(values)])


def _stretch(body: ElementTree.Element, axis: int, factor: float) -> None:
    """Move what is drawn of a link apart along it."""
    for geom in body.findall("geom[@class='drawn']"):
        _change(geom, lambda a, value: value * factor if a == axis else value)


def _add_toe(
    root: ElementTree.Element, foot: ElementTree.Element, side: str, length: float
) -> None:
    """Cut the front off a foot, and hang it on a joint as a toe of half the height."""
    front = _HEEL + _FOOT - length
    share = 0.5 * length / _FOOT
    for item in foot:
        place = item.get('name', '') or item.tag
        if place in (f'{side}f', f'{side}_sole', 'inertial'):
            _set(item, 'pos', 0, _HEEL + (_FOOT - length) / 2)
        if place == f'{side}_sole':
            _set(item, 'size', 0, _numbers(item, 'size')[0] - length / 2)
        elif place == f'{side}_foot':
            _set(item, 'pos', 0, _numbers(item, 'pos')[0] - length / 2)
            _set(item, 'size', 0, _numbers(item, 'size')[0] - length / 2)
        elif place == 'inertial':
            item.set('mass', f'{_FOOT_MASS * (1 - share):.6g}')
    toe = ElementTree.SubElement(foot, 'body', name=f'{side}toe', pos=f'{front:.9g} 0 {_SOLE:g}')
    half, box = length / 2, {'type': 'box'}
    ElementTree.SubElement(
        toe, 'inertial', pos=f'{half:.9g} 0 0.005', mass=f'{_FOOT_MASS * share:.6g}',
        diaginertia='1.3e-05 1e-05 1.3e-05',
    )  # fmt: skip
    ElementTree.SubElement(
        toe, 'joint', {'class': 'player'}, name=f'{side}le7', axis='0 -1 0', range='-1 70'
    )
    ElementTree.SubElement(
        toe, 'site', name=f'{side}f1', pos=f'{half:.9g} 0 0.005', size='0.01', group='5'
    )
    ElementTree.SubElement(
        toe, 'geom', {'class': 'sole', **box}, name=f'{side}_toe_sole',
        pos=f'{half:.9g} 0 0.005', size=f'{half:.9g} 0.04 0.005',
    )  # fmt: skip
    ElementTree.SubElement(
        toe, 'geom', {'class': 'foot', **box}, name=f'{side}_toe',
        pos=f'{half:.9g} 0 0.008', size=f'{half:.9g} 0.04 0.002',
    )  # fmt: skip
    offset = (front, 0.0, _SOLE)
    for geom in foot.findall("geom[@class='drawn']"):
        if (_numbers(geom, 'pos') or _numbers(geom, 'fromto'))[0] >= 0.07:
            foot.remove(geom)
            _change(geom, lambda axis, value: value - offset[axis])
            toe.append(geom)
    contact, actuator, sensor = (root.find(name) for name in ('contact', 'actuator', 'sensor'))
    assert contact is not None and actuator is not None and sensor is not None
    hit = {pair.get(name) for pair in contact for name in ('body1', 'body2')}
    for other in sorted(str(name) for name in hit):
        ElementTree.SubElement(contact, 'exclude', body1=f'{side}toe', body2=other)
    index = [item.get('name') for item in actuator].index(f'{side}le6')
    motor = ElementTree.Element('position', {'class': 'player'}, name=f'{side}le7',
                                joint=f'{side}le7')  # fmt: skip
    actuator.insert(index + 1, motor)
    ElementTree.SubElement(
        sensor, 'contact', name=f'{side}f1_contact', body1=f'{side}toe', reduce='netforce',
        data='found force pos',
    )  # fmt: skip


__all__ = ['NAO_TYPES', 'NaoType', 'UnknownNaoType', 'player_text']
