# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensors of a description's `<gazebo>` elements, as sensors of MuJoCo and of the sidecar."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import math
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

import mujoco

from urlab_ros_bridge.geometry import CAMERA_TO_BODY
from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import conjugate
from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import SITE_TO_RANGE
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.robot_import.links import joint_ends
from urlab_ros_bridge.robot_import.report import ImportReport

_Section = dict[str, dict[str, Any]]
_Adder = Callable[[ElementTree.Element, mujoco.MjsBody], None]

# What the images of each type of camera show.
_CAMERAS = {
    'camera': ('real',),
    'wideanglecamera': ('real',),
    'depth': ('depth',),
    'depth_camera': ('depth',),
    'rgbd': ('real', 'depth'),
    'rgbd_camera': ('real', 'depth'),
    'segmentation_camera': ('semantic',),
}
_SCANNERS = ('ray', 'gpu_ray', 'lidar', 'gpu_lidar')
_IMAGE_TOPIC = re.compile(r'/(image|image_raw|depth_image|color)(/.*)?$')
_TOPIC = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
_SITE = {'size': [0.005] * 3, 'group': 5}  # not drawn
_RANGE = 'sensor_msgs/Range'
_FARTHEST = 1000.0  # m; of a sensor whose range has no limit
_SAME = 1e-6  # m, rad: poses this near are one
# Where the frame of a sensor's messages is named, in the versions of Gazebo.
_FRAMES = (
    'camera/optical_frame_id', 'optical_frame_id', 'gz_frame_id', 'ignition_frame_id', 'frame_id',
    'plugin/frame_name', 'plugin/frameName', 'plugin/frame_id', 'plugin/frameId',
)  # fmt: skip
_MAX_RAYS, _MAX_RINGS = 10_000, 256
_WIDEST = 3.0  # rad; images of MuJoCo are flat
_MOST_PIXELS = 8192  # in each direction
_MOST_RAYS = 100_000  # of all scanners of a world
# Outside of this, contacts become unstable; descriptions have 0 for casters, 1e5 for wheels.
_FRICTION = (0.01, 2.0)
# Data (found, force and position), reduction (one net force) and number of a contact sensor.
_NET_CONTACT = [0b10011, 3, 1]
_DISTANCE = [1, 0, 0]  # data of a rangefinder


class SensorImport:
    """
    Adds the sensors of a description to a spec; what has no counterpart is reported.

    :ivar sections: `cameras`, `lidars`, `noise` and `sensor_topics` of the sidecar.
    :ivar frames: of sensors, for the section `frames`.
    """

    def __init__(
        self, spec: mujoco.MjSpec, robot: ElementTree.Element, report: ImportReport
    ) -> None:
        """Add all sensors; `spec` is uncompiled."""
        self._report = report
        self.frames: dict[str, str] = {}
        self._body_names = {body.name for body in spec.bodies}
        names = ('cameras', 'lidars', 'noise', 'sensor_topics')
        self.sections: dict[str, _Section] = {name: {} for name in names}
        self._spec = spec
        self._links = {
            joint.get('name', ''): joint_ends(joint)[1] for joint in robot.findall('joint')
        }
        self._names = {'base', *(item.name for item in (*spec.bodies, *spec.joints))}
        adders: dict[str, _Adder] = {
            **dict.fromkeys(_CAMERAS, self._add_cameras),
            **dict.fromkeys(_SCANNERS, self._add_scanner),
            'imu': self._add_imu,
            'magnetometer': self._add_magnetometer,
            'force_torque': self._add_force_torque,
            'contact': self._add_contact,
        }
        served = described = 0
        for element in robot.findall('gazebo'):
            reference = element.get('reference', '')
            body = spec.body(self._links.get(reference, reference))
            for sensor in element.findall('sensor'):
                adder, kind = adders.get(sensor.get('type', '')), sensor.get('type')
                described += 1
                if adder is None:
                    report.left_out(_part(sensor), f'its type {kind!r} has no counterpart')
                elif body is None:
                    report.left_out(_part(sensor), f'it is on the unknown link {reference!r}')
                else:
                    served += self._add(adder, sensor, body)
        report.count('sensors', served, described)

    def _add(self, adder: _Adder, sensor: ElementTree.Element, body: mujoco.MjsBody) -> bool:
        """Add a sensor, or report that its numbers make no sense: an infinite width, say."""
        try:
            adder(sensor, body)
        except (ArithmeticError, ValueError) as error:
            self._report.left_out(_part(sensor), f'its numbers make no sense ({error})')
            return False
        return True

    def _name(self, wanted: str) -> str:
        """Return a name that topics may have, and that nothing else has."""
        stem = re.sub(r'\W+', '_', wanted, flags=re.ASCII).strip('_') or 'sensor'
        name, number = stem, 1
        while name in self._names:
            number += 1
            name = f'{stem}_{number}'
        self._names.add(name)
        return name

    def _add_cameras(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        topic = (sensor.findtext('topic') or sensor.findtext('camera/topic') or '').strip()
        stem = _IMAGE_TOPIC.sub('', topic) or sensor.get('name', 'camera')
        modes = _CAMERAS[sensor.get('type', '')]
        for camera in sensor.findall('camera'):
            size = [int(_number(camera, 'image/width', 640)),
                    int(_number(camera, 'image/height', 480))]  # fmt: skip
            if not all(1 <= pixels <= _MOST_PIXELS for pixels in size):
                raise ValueError(f'an image of {size[0]} x {size[1]} pixels')
            fovy = self._fovy(sensor, camera, size)
            pos, quat = compose(*self._pose(sensor), *self._pose(camera))
            if camera.find('clip') is not None:
                self._report.left_out(_part(sensor), '<clip>: the world has its own')
            for mode in modes:
                name = self._name(stem if mode == modes[0] else f'{stem}_{mode}')
                body.add_camera(
                    name=name,
                    pos=pos,
                    quat=xyzw_to_wxyz(multiply(quat, conjugate(CAMERA_TO_BODY))),
                    fovy=fovy,
                    resolution=size,
                )
                self._add_frames(name, sensor, body, Pose(pos, quat), f'{name}/optical')
                self.sections['cameras'][name] = {
                    'mode': mode,
                    'resolution': size,
                    'rate': _rate(sensor, 30.0),
                }

    def _fovy(
        self, sensor: ElementTree.Element, camera: ElementTree.Element, size: list[int]
    ) -> float:
        """Return the vertical field of view (degrees): of the lens, if it is given by pixels."""
        kind = camera.findtext('lens/type', 'gnomonical').strip()
        if kind not in ('gnomonical', 'rectilinear') or camera.find('distortion') is not None:
            self._report.left_out(_part(sensor), 'the distortion of its lens')
        along, upright = (_number(camera, f'lens/intrinsics/f{axis}', 0.0) for axis in 'xy')
        if upright > 0:
            middle = [_number(camera, f'lens/intrinsics/c{axis}', n / 2)
                      for axis, n in zip('xy', size, strict=True)]  # fmt: skip
            square = math.isclose(along or upright, upright, rel_tol=1e-3)
            if not square or max(abs(c - n / 2) for c, n in zip(middle, size, strict=True)) > 1:
                self._report.repaired(_part(sensor), 'its pixels are square and its lens centred')
            return math.degrees(2 * math.atan(size[1] / 2 / upright))
        across = min(_number(camera, 'horizontal_fov', math.radians(60)), _WIDEST)
        return math.degrees(2 * math.atan(math.tan(across / 2) * size[1] / size[0]))

    def _add_scanner(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        ray = next((item for item in sensor if item.tag in ('ray', 'lidar')), sensor)
        if _RANGE in (text.strip() for text in _texts(sensor, 'plugin/output_type')):
            self._add_range(sensor, ray, body)
            return
        name = self._name(sensor.get('name', 'scan'))
        rings = _rings(ray)
        count = _number(ray, 'scan/horizontal/samples', 360)
        count *= _number(ray, 'scan/horizontal/resolution', 1)
        low = _number(ray, 'scan/horizontal/min_angle', -math.pi)
        high = _number(ray, 'scan/horizontal/max_angle', math.pi)
        low, high = min(low, high), max(low, high)
        low = min(max(low, -2 * math.pi), 2 * math.pi)
        rays = min(max(1, round(count)), _MAX_RAYS, _MOST_RAYS // rings.get('rings', 1))
        if rays == 1 or high <= low:
            rays, high = 1, low
        near, far = self._ranges(sensor, ray)
        pos, quat = self._pose(sensor)
        self._add_frames(name, sensor, body, Pose(pos, quat))
        self.sections['lidars'][name] = {
            'rays': rays,
            'body': body.name,
            'pose': {'pos': list(pos), 'quat': list(xyzw_to_wxyz(quat))},
            'angle_min': low,
            'angle_max': min(max(high, low), low + 2 * math.pi),
            'range_min': near,
            'range_max': far,
            'rate': _rate(sensor, 10.0),
            **rings,
        }
        self._add_noise(name, ray.find('noise'))
        self._add_topic(name, sensor, {})

    def _add_range(
        self, sensor: ElementTree.Element, ray: ElementTree.Element, body: mujoco.MjsBody
    ) -> None:
        """Add one beam in the middle of those that Gazebo takes the shortest of."""
        rays = [_number(ray, f'scan/{axis}/samples', 1) for axis in ('horizontal', 'vertical')]
        if max(rays) > 1:
            self._report.guessed(_part(sensor), 'of its beams the one in the middle is taken')
        pose = Pose(*self._pose(sensor))
        # A rangefinder looks along z of its site, a sensor of Gazebo along x.
        turned = pose.then(Pose(orientation=conjugate(SITE_TO_RANGE)))
        name = self._add_site_at(sensor, body, turned)
        self._add_frames(name, sensor, body, pose, f'{name}/range')
        self._spec.add_sensor(
            name=name,
            type=mujoco.mjtSensor.mjSENS_RANGEFINDER,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=name,
            intprm=_DISTANCE,
            cutoff=self._ranges(sensor, ray)[1],
        )
        self._add_noise(name, ray.find('noise'))

    def _ranges(
        self, sensor: ElementTree.Element, ray: ElementTree.Element
    ) -> tuple[float, float]:
        """Return the least and the greatest range (m); what is without limit gets one."""
        near = max(_number(ray, 'range/min', 0.0), 0.0)
        text = ray.findtext('range/max', '').strip().lower().lstrip('+')
        far = _FARTHEST if text.startswith('inf') else _number(ray, 'range/max', 30.0)
        if far <= near or text.startswith('inf'):
            far = max(_FARTHEST, 2 * near)
            self._report.guessed(_part(sensor), f'its range ends at {far:g} m')
        return near, far

    def _add_frames(
        self, name: str, sensor: ElementTree.Element, body: mujoco.MjsBody, pose: Pose,
        key: str = '',
    ) -> None:  # fmt: skip
        """
        Keep the frame that a sensor names, else that of its link where they are the same.

        :param key: of the frame in the messages of cameras and rangefinders.
        """
        paths = [path for path in _FRAMES if key.endswith('/optical') or 'optical' not in path]
        given = next((text for text in _texts(sensor, *paths) if text.strip()), '').strip()
        given = given.lstrip('/')
        if given and not given.isprintable():
            self._report.left_out(_part(sensor), f'its frame {given!r}')
            given = ''
        at_link = all(abs(part) < _SAME for part in (*pose.position, *pose.orientation[:3]))
        if not key.endswith('/range') and at_link:
            self.frames[name] = body.name
        if given:
            self.frames[key or name] = given
        elif key.endswith('/optical') and at_link:
            # As ROS drivers name it.
            optical = f'{body.name.removesuffix("_link").removesuffix("_frame")}_optical_frame'
            if optical in self._body_names:
                self.frames[key] = optical
        elif key and at_link:
            self.frames[key] = body.name

    def _add_imu(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        site = self._add_site(sensor, body)
        imu = sensor.find('imu')
        kinds = mujoco.mjtSensor
        for kind, words in (
            (kinds.mjSENS_GYRO, ('noise/rate', 'angular_velocity/x/noise')),
            (kinds.mjSENS_ACCELEROMETER, ('noise/accel', 'linear_acceleration/x/noise')),
            (kinds.mjSENS_FRAMEQUAT, ()),
        ):
            name = self._add_sensor(kind, site)
            found = [] if imu is None else [imu.find(path) for path in words]
            self._add_noise(name, next((item for item in found if item is not None), None))

    def _add_magnetometer(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        site = self._add_site(sensor, body)
        name = self._add_sensor(mujoco.mjtSensor.mjSENS_MAGNETOMETER, site)
        self._add_noise(name, sensor.find('magnetometer/x/noise'))

    def _add_force_torque(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        frame = sensor.findtext('force_torque/frame', 'child').strip()
        direction = sensor.findtext('force_torque/measure_direction', 'child_to_parent').strip()
        site = self._add_site(sensor, body)
        if (frame, direction) not in (('child', 'child_to_parent'), ('sensor', 'child_to_parent')):
            self._report.repaired(
                _part(sensor), 'it measures from child to parent, in its own frame'
            )
        self._add_sensor(mujoco.mjtSensor.mjSENS_FORCE, site)
        self._add_sensor(mujoco.mjtSensor.mjSENS_TORQUE, site)

    def _add_contact(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> None:
        self._spec.add_sensor(
            name=self._name(sensor.get('name', 'contact')),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=body.name,
            intprm=_NET_CONTACT,
        )

    def _add_site(self, sensor: ElementTree.Element, body: mujoco.MjsBody) -> str:
        """Add the site of a sensor, called as the sensor; ROS topics take its name."""
        pose = Pose(*self._pose(sensor))
        name = self._add_site_at(sensor, body, pose)
        self._add_frames(name, sensor, body, pose)
        return name

    def _add_site_at(self, sensor: ElementTree.Element, body: mujoco.MjsBody, pose: Pose) -> str:
        name = self._name(sensor.get('name', sensor.get('type', '')))
        pos, quat = pose
        body.add_site(name=name, pos=pos, quat=xyzw_to_wxyz(quat), **_SITE)
        rate = _number(sensor, 'update_rate', 0.0)
        self._add_topic(name, sensor, {'rate': min(rate, 1e4)} if rate > 0 else {})
        return name

    def _pose(self, element: ElementTree.Element) -> tuple[Vector, Quaternion]:
        """Return the pose of a sensor or of a part of it, the link's own when it is malformed."""
        pose = _pose(element)
        if pose is None:
            text = element.findtext('pose')
            self._report.repaired(
                _part(element), f'its pose {text!r} is taken for that of its link'
            )
        return pose or (ORIGIN, IDENTITY)

    def _add_sensor(self, kind: mujoco.mjtSensor, site: str) -> str:
        name = self._name(f'{site}_{kind.name.removeprefix("mjSENS_").lower()}')
        self._spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site)
        return name

    def _add_topic(self, name: str, sensor: ElementTree.Element, found: dict[str, Any]) -> None:
        """Keep the topic that the sensor or its plugin names, and `found`."""
        topics = [sensor.findtext('topic') or '', sensor.findtext('plugin/topicName') or '']
        for element in sensor.iterfind('plugin/ros/remapping'):
            source, _, target = (element.text or '').partition(':=')
            topics += [target] if source.strip() == '~/out' else []
        topic = next((text.strip().strip('/') for text in topics if text.strip()), '')
        if _TOPIC.fullmatch(topic):
            found['topic'] = topic
        if found:
            self.sections['sensor_topics'][name] = found

    def _add_noise(self, name: str, noise: ElementTree.Element | None) -> None:
        """Take Gaussian noise over; a constant mean is no noise and is left out."""
        if noise is None:
            return
        values = {
            'stddev': _number(noise, 'stddev', 0.0),
            'bias': _number(noise, 'bias_stddev', 0.0),
        }
        if any(values.values()):
            self.sections['noise'][name] = values


def set_friction(spec: mujoco.MjSpec, robot: ElementTree.Element) -> None:
    """Give links the sliding friction that `<mu1>` and `<mu2>` state: their mean."""
    for element in robot.findall('gazebo'):
        body = spec.body(element.get('reference', ''))
        values = [_number(element, name, -1.0) for name in ('mu1', 'mu2')]
        given = [value for value in values if value >= 0]
        if body is None or not given:
            continue
        for geom in body.geoms:
            geom.friction[0] = min(max(sum(given) / len(given), _FRICTION[0]), _FRICTION[1])
            # Of two shapes the more slippery one counts in Gazebo, the rougher one in MuJoCo.
            geom.priority = int(geom.friction[0] < 1.0)


def _part(sensor: ElementTree.Element) -> str:
    """Return what the report calls a sensor."""
    return f'sensor {sensor.get("name")!r}'


def _pose(element: ElementTree.Element) -> tuple[Vector, Quaternion] | None:
    """Return the `<pose>` of an element: position (m) and rotation; None when it is malformed."""
    pose = element.find('pose')
    if pose is None or not (pose.text or '').strip():
        return ORIGIN, IDENTITY
    try:
        values = [float(word) for word in (pose.text or '').split()]
    except ValueError:
        return None
    if not all(map(math.isfinite, values)):
        return None
    if len(values) == 7 and pose.get('rotation_format') == 'quat_xyzw':
        x, y, z, *quat = values
        norm = math.hypot(*quat)
        return ((x, y, z), tuple(part / norm for part in quat)) if norm > _SAME else None  # type: ignore[return-value]
    if len(values) != 6:
        return None
    x, y, z, *angles = values
    if pose.get('degrees', '').strip() in ('true', '1'):
        angles = [math.radians(angle) for angle in angles]
    roll, pitch, yaw = angles
    return (x, y, z), quaternion_of_rpy(roll, pitch, yaw)


def _texts(element: ElementTree.Element, *paths: str) -> Iterator[str]:
    """Yield the contents of the elements of each path."""
    for path in paths:
        for found in element.iterfind(path):
            yield found.text or ''


def _rings(ray: ElementTree.Element) -> dict[str, Any]:
    """Return what makes a scanner of several rows a 3-D lidar."""
    rings = round(_number(ray, 'scan/vertical/samples', 1))
    rings *= max(1, round(_number(ray, 'scan/vertical/resolution', 1)))
    if rings <= 1:
        return {}
    low = _number(ray, 'scan/vertical/min_angle', 0.0)
    high = _number(ray, 'scan/vertical/max_angle', 0.0)
    return {
        'rings': min(rings, _MAX_RINGS),
        'elevation_min': max(min(low, high), -math.pi / 2),
        'elevation_max': min(max(low, high), math.pi / 2),
    }


def _number(element: ElementTree.Element, path: str, default: float) -> float:
    try:
        value = float(element.findtext(path, ''))
    except ValueError:
        return default
    return value if math.isfinite(value) else default


def _rate(sensor: ElementTree.Element, default: float) -> float:
    """Return the update rate (Hz), within what the sidecar takes; 0 means every step."""
    rate = _number(sensor, 'update_rate', default)
    return min(rate, 1000.0) if rate > 0 else default
