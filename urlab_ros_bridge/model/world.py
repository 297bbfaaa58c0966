# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The whole compiled model as tables, and the queries on its tree of bodies.

mujoco itself is not imported: a caller with a model has imported it already.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cached_property
import sys
from typing import Any

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.model.elements import Actuator
from urlab_ros_bridge.model.elements import Body
from urlab_ros_bridge.model.elements import Camera
from urlab_ros_bridge.model.elements import Coupling
from urlab_ros_bridge.model.elements import DOF_WIDTHS
from urlab_ros_bridge.model.elements import Element
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.model.elements import Geom
from urlab_ros_bridge.model.elements import Joint
from urlab_ros_bridge.model.elements import QPOS_WIDTHS
from urlab_ros_bridge.model.elements import Range
from urlab_ros_bridge.model.elements import Sensor
from urlab_ros_bridge.model.elements import Site
from urlab_ros_bridge.model.elements import Tendon
from urlab_ros_bridge.model.elements import UNLIMITED
from urlab_ros_bridge.wire.names import Prefixes

# For hinges and slides the two are the same.
_AT_JOINT = ('joint', 'jointinparent')


def enumeration(model: Any, name: str) -> Any:
    """Return an enumeration such as mjtSensor of the mujoco module that made the model."""
    return getattr(sys.modules[type(model).__module__.partition('.')[0]], name)


class WorldModel:
    """
    All elements of a compiled model; the index in each table is the id.

    A table is read when it is first used, and not again: later changes of the model do not show.

    :ivar model: the `mujoco.MjModel`.
    :ivar prefixes: of all articulations.
    """

    def __init__(
        self,
        model: Any,
        prefixes: Iterable[str] = (),
        actuator_kinds: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """
        Take a compiled model.

        :param model: mujoco.MjModel.
        :param prefixes: of all articulations: a name belongs to the longest one that fits.
        :param actuator_kinds: prefix -> local name of an actuator -> ``position``, ``motor``, ...
        """
        self.model = model
        self.prefixes = Prefixes(prefixes)
        self._actuator_kinds = actuator_kinds or {}

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies, parents before their children; the first one is the world itself."""
        m, found = self.model, []
        for index in range(m.nbody):
            first, count = int(m.body_jntadr[index]), int(m.body_jntnum[index])
            found.append(
                Body(
                    *self._name('body', index),
                    parent=int(m.body_parentid[index]),
                    root=int(m.body_rootid[index]),
                    weld=int(m.body_weldid[index]),
                    pose=pose_of(m.body_pos[index], m.body_quat[index]),
                    joints=tuple(range(first, first + count)) if count else (),
                    dofs=int(m.body_dofnum[index]),
                    mocap_id=int(m.body_mocapid[index]),
                    mass=float(m.body_mass[index]),
                    inertial=pose_of(m.body_ipos[index], m.body_iquat[index]),
                    inertia=_vector(m.body_inertia[index]),
                )
            )
        return tuple(found)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """Joints."""
        m, kinds = self.model, self._kinds('mjtJoint')
        slots: dict[str, tuple[int, int]] = {}
        found = []
        for index in range(m.njnt):
            name = self._name('joint', index)
            slot, dof = slots.get(name[2], (0, 0))
            kind = kinds[int(m.jnt_type[index])]
            slots[name[2]] = slot + QPOS_WIDTHS[kind], dof + DOF_WIDTHS[kind]
            first, first_dof = int(m.jnt_qposadr[index]), int(m.jnt_dofadr[index])
            found.append(
                Joint(
                    *name,
                    kind=kind,
                    body=int(m.jnt_bodyid[index]),
                    slot=slot,
                    dof=dof,
                    qpos_address=first,
                    dof_address=first_dof,
                    anchor=_vector(m.jnt_pos[index]),
                    axis=_vector(m.jnt_axis[index]),
                    zero=float(m.qpos0[first]) if kind != FREE else 0.0,
                    range=_range(m.jnt_limited[index], m.jnt_range[index]),
                    effort_range=_range(m.jnt_actfrclimited[index], m.jnt_actfrcrange[index]),
                    damping=float(m.dof_damping[first_dof]),
                    friction=float(m.dof_frictionloss[first_dof]),
                )
            )
        return tuple(found)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Sites."""
        m = self.model
        return tuple(
            Site(
                *self._name('site', index),
                body=int(m.site_bodyid[index]),
                pose=pose_of(m.site_pos[index], m.site_quat[index]),
            )
            for index in range(m.nsite)
        )

    @cached_property
    def geoms(self) -> tuple[Geom, ...]:
        """Geoms."""
        m, kinds = self.model, self._kinds('mjtGeom')
        return tuple(
            Geom(
                *self._name('geom', index),
                body=int(m.geom_bodyid[index]),
                kind=kinds[int(m.geom_type[index])],
                pose=pose_of(m.geom_pos[index], m.geom_quat[index]),
                size=_vector(m.geom_size[index]),
                group=int(m.geom_group[index]),
                collides=bool(m.geom_contype[index] or m.geom_conaffinity[index]),
                rgba=tuple(m.geom_rgba[index].tolist()),
                material=int(m.geom_matid[index]),
                data=int(m.geom_dataid[index]),
            )
            for index in range(m.ngeom)
        )

    @cached_property
    def cameras(self) -> tuple[Camera, ...]:
        """Cameras."""
        m, modes = self.model, self._kinds('mjtCamLight')
        return tuple(
            Camera(
                *self._name('camera', index),
                body=int(m.cam_bodyid[index]),
                mode=modes[int(m.cam_mode[index])],
                pose=pose_of(m.cam_pos[index], m.cam_quat[index]),
                fovy=float(m.cam_fovy[index]),
            )
            for index in range(m.ncam)
        )

    @cached_property
    def actuators(self) -> tuple[Actuator, ...]:
        """Actuators."""
        m = self.model
        kinds = {name: self._kinds(f'mjt{name}') for name in ('Trn', 'Dyn', 'Gain', 'Bias')}
        # Since MuJoCo 4 an actuator may have several controls and outputs; these are the first.
        count = getattr(m, 'nactuator', m.nu)
        controls = getattr(m, 'actuator_ctrladr', range(count))
        outputs = getattr(m, 'actuator_outadr', range(count))
        places: dict[str, int] = {}
        found = []
        for index in range(count):
            _, name, prefix = self._name('actuator', index)
            place = places.get(prefix, 0)
            places[prefix] = place + 1
            control = int(controls[index])
            transmission = kinds['Trn'][int(m.actuator_trntype[index])]
            target = int(m.actuator_trnid[index][0])
            driven = self.joints[target] if transmission in _AT_JOINT else None
            found.append(
                Actuator(
                    index,
                    name,
                    prefix,
                    index=place,
                    kind=self._actuator_kinds.get(prefix, {}).get(name, ''),
                    transmission=transmission,
                    joint=driven.name if driven is not None and driven.prefix == prefix else '',
                    joint_id=-1 if driven is None else driven.id,
                    tendon_id=target if transmission == 'tendon' else -1,
                    gear=float(m.actuator_gear[int(outputs[index])][0]),
                    control_range=_range(
                        m.actuator_ctrllimited[control], m.actuator_ctrlrange[control]
                    ),
                    force_range=_range(
                        m.actuator_forcelimited[index], m.actuator_forcerange[index]
                    ),
                    activation_range=_range(
                        m.actuator_actlimited[index], m.actuator_actrange[index]
                    ),
                    activation_slots=_activation_slots(
                        int(m.actuator_actadr[index]), int(m.actuator_actnum[index])
                    ),
                    dynamics=kinds['Dyn'][int(m.actuator_dyntype[index])],
                    gain=kinds['Gain'][int(m.actuator_gaintype[index])],
                    bias=kinds['Bias'][int(m.actuator_biastype[index])],
                    dynamics_params=_vector(m.actuator_dynprm[index][:3]),
                    gain_params=_vector(m.actuator_gainprm[index][:3]),
                    bias_params=_vector(m.actuator_biasprm[index][:3]),
                )
            )
        return tuple(found)

    @cached_property
    def tendons(self) -> tuple[Tendon, ...]:
        """Tendons."""
        m, kinds = self.model, self._kinds('mjtWrap')
        found = []
        for index in range(m.ntendon):
            first = int(m.tendon_adr[index])
            wraps = range(first, first + int(m.tendon_num[index]))
            joints: dict[int, float] = {}
            for wrap in wraps:
                if kinds[int(m.wrap_type[wrap])] == 'joint':
                    joint = int(m.wrap_objid[wrap])
                    joints[joint] = joints.get(joint, 0.0) + float(m.wrap_prm[wrap])
            found.append(
                Tendon(
                    *self._name('tendon', index),
                    joints=joints,
                    force_range=_range(m.tendon_actfrclimited[index], m.tendon_actfrcrange[index]),
                )
            )
        return tuple(found)

    @cached_property
    def sensors(self) -> tuple[Sensor, ...]:
        """Sensors."""
        m, kinds = self.model, self._kinds('mjtSensor')
        objects = {**self._kinds('mjtObj'), 0: ''}
        return tuple(
            Sensor(
                *self._name('sensor', index),
                kind=kinds[int(m.sensor_type[index])],
                dim=int(m.sensor_dim[index]),
                address=int(m.sensor_adr[index]),
                object_kind=objects[int(m.sensor_objtype[index])],
                object_id=int(m.sensor_objid[index]),
                reference_kind=objects[int(m.sensor_reftype[index])],
                reference_id=int(m.sensor_refid[index]),
                cutoff=float(m.sensor_cutoff[index]),
            )
            for index in range(m.nsensor)
        )

    @cached_property
    def couplings(self) -> tuple[Coupling, ...]:
        """Joints that follow other joints."""
        m, kinds = self.model, self._kinds('mjtEq')
        return tuple(
            Coupling(
                int(m.eq_obj1id[index]),
                int(m.eq_obj2id[index]),
                tuple(m.eq_data[index][:5].tolist()),
                bool(m.eq_active0[index]),
            )
            for index in range(m.neq)
            if kinds[int(m.eq_type[index])] == 'joint' and m.eq_obj2id[index] >= 0
        )

    @cached_property
    def keyframes(self) -> tuple[Element, ...]:
        """Keyframes: their names only."""
        return tuple(Element(*self._name('key', index)) for index in range(self.model.nkey))

    def lineage(self, body: int) -> Iterator[Body]:
        """Yield a body and its ancestors, without the world."""
        while body:
            yield self.bodies[body]
            body = self.bodies[body].parent

    def subtree(self, body: int) -> list[Body]:
        """Return a body and all below it, parents first."""
        inside, found = {body}, [self.bodies[body]]
        for other in self.bodies[body + 1 :]:
            if other.parent in inside:
                inside.add(other.id)
                found.append(other)
        return found

    def is_static(self, body: int) -> bool:
        """Whether a body cannot move in the world."""
        return not any(ancestor.moves for ancestor in self.lineage(body))

    def reference_pose(self, body: int, ancestor: int = 0) -> Pose:
        """Return the pose of a body in an ancestor, with all joints as in the reference."""
        pose = Pose()
        for above in self.lineage(body):
            if above.id == ancestor:
                break
            pose = above.pose.then(pose)
        return pose

    def joints_of(self, body: int) -> list[Joint]:
        """Return the joints that move a body in its parent."""
        return [self.joints[joint] for joint in self.bodies[body].joints]

    def _name(self, kind: str, index: int) -> tuple[int, str, str]:
        prefix, local = self.prefixes.split(getattr(self.model, kind)(index).name)
        return index, local, prefix

    def _kinds(self, name: str) -> dict[int, str]:
        """Return number -> name of an enumeration, ``mjJNT_HINGE`` as ``hinge``."""
        members = enumeration(self.model, name).__members__.items()
        return {int(value): key.partition('_')[2].lower() for key, value in members}


def _vector(row: Any) -> Vector:
    x, y, z = row.tolist()
    return x, y, z


def _activation_slots(address: int, count: int) -> slice:
    return slice(address, address + count) if count > 0 else slice(0, 0)


def _range(limited: Any, bounds: Any) -> Range:
    if not limited:
        return UNLIMITED
    low, high = bounds.tolist()
    return low, high
