# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The world of a planner, made of collision objects alone, is the simulated one without robots."""

import copy
import sys

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import LISTEN
from bridge_harness import Listener
from bridge_harness import wait_until
from bundled_server import port_of
from bundled_server import running_server
import mujoco
import numpy as np
import pytest
from shape_msgs.msg import SolidPrimitive

from test.config.drawn_world import distances
from test.config.drawn_world import of_message
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing

pytestmark = pytest.mark.ros
msg = pytest.importorskip('moveit_msgs.msg')

SHAPES = """<mujoco model="shapes"><option gravity="0 0 0"/><asset>
    <mesh name="roof" vertex="-.3 -.3 0  .3 -.3 0  .3 .3 0  -.3 .3 0  0 0 .4"/>
    <hfield name="hills" nrow="5" ncol="4" size=".6 .6 .3 .1"
      elevation="0 0 0 0 0 .5 .2 0 0 1 .3 0 0 .2 .1 0 0 0 0 0"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <geom type="box" size=".1 .2 .3" pos="1 0 .3" euler="0 0 30"/>
    <geom name="seen" type="box" size="1 1 1" pos="0 0 1" contype="0" conaffinity="0"/>
    <body name="shed" pos="-1 1 0" euler="0 0 40">
      <geom type="mesh" mesh="roof" pos="0 0 .5"/>
      <body pos="0 .5 .2"><geom type="capsule" size=".1 .2" euler="70 0 0"/></body></body>
    <body name="hills" pos="-1.5 -1.5 0"><geom type="hfield" hfield="hills"/></body>
    <body name="ball" pos="0 -1 .5"><freejoint/><geom size=".15"/>
      <body pos=".3 0 0"><geom type="ellipsoid" size=".2 .1 .05" euler="0 30 0"/></body></body>
    <body name="hoop" pos="1 1 .5" mocap="true"><geom type="cylinder" size=".3 .05"/></body>
  </worldbody></mujoco>"""
PILLAR = """<mujoco><worldbody><body name="pillar"><geom type="box" size=".1 .1 1" pos="0 0 1"/>
</body></worldbody></mujoco>"""
KINDS = {
    SolidPrimitive.BOX: lambda x, y, z: (mujoco.mjtGeom.mjGEOM_BOX, [x / 2, y / 2, z / 2]),
    SolidPrimitive.SPHERE: lambda radius: (mujoco.mjtGeom.mjGEOM_SPHERE, [radius, 0, 0]),
    SolidPrimitive.CYLINDER: lambda height, radius: (
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        [radius, height / 2, 0],
    ),
}


class Planner:
    """Applies changes as a planner does: `objects` by name."""

    def __init__(self, listener):
        self.objects = {}
        self.messages = listener.listen(msg.PlanningScene, '/planning_scene', LISTEN)

    def update(self):
        while self.messages:
            scene = self.messages.pop(0)
            assert scene.is_diff and scene.robot_state.is_diff
            for change in scene.world.collision_objects:
                self.apply(change)
        return self.objects

    def apply(self, change):
        if change.operation == change.ADD:
            assert len(change.primitives) + len(change.meshes) > 0
            self.objects[change.id] = change
        elif change.operation == change.REMOVE:
            del self.objects[change.id]
        else:
            assert change.operation == change.MOVE
            assert not change.primitives and not change.meshes
            known = self.objects[change.id]
            known.pose = change.pose
            assert known.primitive_poses == change.primitive_poses
            assert known.mesh_poses == change.mesh_poses

    def compiled(self):
        spec = mujoco.MjSpec()
        for each in self.objects.values():
            place = of_message(each.pose)
            for solid, pose in zip(each.primitives, each.primitive_poses, strict=True):
                kind, size = KINDS[solid.type](*solid.dimensions)
                add(spec, place @ of_message(pose), type=kind, size=size)
            for number, (mesh, pose) in enumerate(zip(each.meshes, each.mesh_poses, strict=True)):
                name = f'{each.id} {number}'
                points = [value for p in mesh.vertices for value in (p.x, p.y, p.z)]
                faces = [int(i) for t in mesh.triangles for i in t.vertex_indices]
                flat = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
                spec.add_mesh(name=name, uservert=points, userface=faces, inertia=flat)
                geom = mujoco.mjtGeom.mjGEOM_MESH
                add(spec, place @ of_message(pose), type=geom, meshname=name)
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return model, data


def add(spec, place, **fields):
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, np.ascontiguousarray(place[:3, :3]).ravel())
    spec.worldbody.add_geom(pos=place[:3, 3], quat=turn, **fields)


def solid_scenery(model, prefixes):
    """Return a copy of a model in which rays meet what collides and is no robot."""
    eyes = copy.copy(model)
    bodies = [model.body(index).name.startswith(tuple(prefixes)) for index in range(model.nbody)]
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    eyes.geom_group[:] = np.where(collides & ~np.array(bodies)[model.geom_bodyid], 0, 5)
    eyes.geom_matid[:] = -1
    eyes.geom_rgba[:, 3] = 1.0
    return eyes


def errors(simulated, planned):
    """Return how far rays of many eyes end from each other in two worlds (m)."""
    found = []
    for angle in np.linspace(0.0, 6.0, 7):
        backward = np.array([np.cos(angle), np.sin(angle), 0.7])
        backward /= np.linalg.norm(backward)
        right = np.cross([0.0, 0.0, 1.0], backward)
        right /= np.linalg.norm(right)
        view = 3.0 * backward, np.array([right, np.cross(backward, right), backward]), 60.0
        one, other = distances(*simulated, *view), distances(*planned, *view)
        # A floor is a slab, with an end where the simulated one has none.
        both = (one > 0) & (other > 0) & (one < 15)
        assert np.mean(both) > 0.5 and np.mean((one > 0)[one < 15] == (other > 0)[one < 15]) > 0.98
        found.append(np.abs(one - other)[both])
    return np.concatenate(found)


def test_a_planner_has_the_solid_scenery_of_every_world(running):
    planner = Planner(running.listener)
    wait_until(lambda: planner.update() and running.is_still())

    def agree():
        planner.update()
        with running.simulated() as (model, data):
            prefixes = [f'{prefix}_' for prefix in running.robots.values()]
            found = errors((solid_scenery(model, prefixes), data), planner.compiled())
        return np.quantile(found, 0.99) < 3e-3

    # What has come to rest within the last second is published with the next one.
    wait_until(agree)


@pytest.fixture
def shapes(tmp_path):
    """Yield a client of a world with every kind of shape, and a planner."""
    path = tmp_path / 'shapes.xml'
    path.write_text(SHAPES)
    domain = free_domain()
    with running_server(model=path) as server:
        ports = port_of(server), port_of(server, 'state')
        bridge = Bridge(domain, *ports, publish_planning_scene=True)
        listener = Listener(domain)
        with Client(rpc_port=ports[0], shared=True) as client:
            yield server, client, listener
        listener.close()
        bridge.close()


def test_every_shape_is_there_and_follows_the_world(shapes):
    server, client, listener = shapes
    planner = Planner(listener)
    names = {'floor', 'shed', 'hills', 'ball', 'hoop'}
    wait_until(lambda: names <= planner.update().keys())
    # Two have no name: a box of the world, and what the shed carries.
    assert len(planner.objects) == 7 and 'seen' not in planner.objects

    def agree():
        planner.update()
        world = server.simulation.world
        with server.simulation.engine.lock:
            found = errors((solid_scenery(world.model, ['-']), world.data), planner.compiled())
        return np.quantile(found, 0.995) < 2e-3

    assert agree()
    client.set_mocap_pose('hoop', pos=(1.0, 1.0, 0.9), quat=(0.6, 0.8, 0.0, 0.0))
    client.apply_wrench('ball', force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.2), duration=0.1)
    assert not agree()
    wait_until(agree)
    assert planner.objects['hoop'].pose.position.z == pytest.approx(0.9)
    client.spawn_entity('pillar', xml=PILLAR, pos=(0.0, 1.5, 0.0))
    wait_until(lambda: 'pillar' in planner.update() and agree())
    another = Listener(listener.context.get_domain_id())
    late = Planner(another)
    wait_until(lambda: late.update().keys() == planner.update().keys())
    client.delete_entity('pillar')
    wait_until(lambda: 'pillar' not in planner.update().keys() | late.update().keys())
    another.close()


def test_a_bridge_without_moveit_msgs_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'moveit_msgs.msg', None)
    with pytest.raises(InterfaceMissing, match='install the ROS package moveit_msgs'):
        Bridge(free_domain(), 1, 2, publish_planning_scene=True)
