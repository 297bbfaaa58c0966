# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The world of a planner, made of collision objects alone, is the simulated one without robots."""

import copy
from pathlib import Path
from types import SimpleNamespace

from bundled_server import ports_of
from bundled_server import start_server
from fake_node import FakeNode
from moveit_msgs.msg import CollisionObject
import mujoco
import numpy as np
import pytest
from shape_msgs.msg import SolidPrimitive

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.models import world_names
from urlab_ros_bridge.ros.extras.planning_scene import PlanningSceneTopic
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.plan.from_model import plan_world
from urlab_ros_bridge.ros.program.features import Settings

SHAPES = Path(__file__).with_name('shapes.xml')
PILLAR = """<mujoco><worldbody><body name="pillar"><geom type="box" size=".1 .1 1" pos="0 0 1"/>
</body></worldbody></mujoco>"""
GEOMS = mujoco.mjtGeom
KINDS = {
    SolidPrimitive.BOX: lambda x, y, z: (GEOMS.mjGEOM_BOX, [x / 2, y / 2, z / 2]),
    SolidPrimitive.SPHERE: lambda radius: (GEOMS.mjGEOM_SPHERE, [radius, 0, 0]),
    SolidPrimitive.CYLINDER: lambda h, radius: (GEOMS.mjGEOM_CYLINDER, [radius, h / 2, 0]),
}


class Scene:
    """A bundled world, its topic on a fake node, and a planner that applies the changes."""

    def __init__(self, **config):
        self.server = start_server(cameras='off', **config)
        self.client = Client(**ports_of(self.server), shared=True)
        self.client.connect()
        self.objects, self.node = {}, FakeNode()
        self._world = SimpleNamespace(topics=SimpleNamespace(state=self))
        self._settings = Settings(publish_planning_scene=True)
        self.topic = PlanningSceneTopic(
            SimpleNamespace(
                node=self.node,
                part={CurrentWorld: self._world}.__getitem__,
                settings=self._settings,
                timeline=SimpleNamespace(stamp_ns=7),
                wire_needs=[],
                log=lambda *_: None,
            )
        )
        self.read_world()

    def read_world(self):
        """Take the present world, as after a handshake."""
        handshake = self.client.handshake
        self.topic.take_world(plan_world(handshake, self._settings), handshake)

    @property
    def entities(self):
        """Return what the stream has of entities: name -> pose."""
        found = self.client.get_entities()
        return {
            name: SimpleNamespace(pose=lambda each=each: (each.pos, each.quat))
            for name, each in found.items()
        }

    def update(self):
        """Let a second pass; return what has changed: (operation, name)."""
        self.topic.every_second(0.0)
        changes = []
        (publisher,) = self.node.publishers.values()
        while publisher.sent:
            scene = publisher.sent.pop(0)
            assert scene.is_diff and scene.robot_state.is_diff
            for change in scene.world.collision_objects:
                self.apply(copy.deepcopy(change))
                changes.append((change.operation, change.id))
        return changes

    def apply(self, change):
        assert change.header.frame_id in ('map', 'odom') and change.header.stamp.nanosec == 7
        if change.operation == change.ADD:
            assert change.primitives or change.meshes
            self.objects[change.id] = change
        elif change.operation == change.REMOVE:
            del self.objects[change.id]
        else:
            known = self.objects[change.id]
            assert not change.primitives and not change.meshes
            assert known.primitive_poses == change.primitive_poses
            assert known.mesh_poses == change.mesh_poses
            known.pose = change.pose

    def error(self):
        """Return how far rays in the planner's world end from those in the simulation (m)."""
        world = self.server.simulation.world
        with self.server.simulation.engine.lock:
            return errors((solid_scenery(world.model, self.robots), world.data), self.compiled())

    @property
    def robots(self):
        """Return how names of robots begin."""
        return tuple(f'{prefix}_' for prefix in self.client.handshake.articulations)

    def compiled(self):
        spec = mujoco.MjSpec()
        for each in self.objects.values():
            body = spec.worldbody.add_body(**placed(each.pose))
            for solid, pose in zip(each.primitives, each.primitive_poses, strict=True):
                kind, size = KINDS[solid.type](*solid.dimensions)
                body.add_geom(type=kind, size=size, **placed(pose))
            for number, (mesh, pose) in enumerate(zip(each.meshes, each.mesh_poses, strict=True)):
                name = f'{each.id} {number}'
                points = [value for p in mesh.vertices for value in (p.x, p.y, p.z)]
                faces = [int(i) for t in mesh.triangles for i in t.vertex_indices]
                flat = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
                spec.add_mesh(name=name, uservert=points, userface=faces, inertia=flat)
                body.add_geom(type=GEOMS.mjGEOM_MESH, meshname=name, **placed(pose))
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return model, data

    def close(self):
        self.client.close()
        self.server.stop()


def placed(pose):
    """Return a geometry_msgs Pose as position and quaternion."""
    place, turn = pose.position, pose.orientation
    return {'pos': (place.x, place.y, place.z), 'quat': (turn.w, turn.x, turn.y, turn.z)}


def solid_scenery(model, prefixes):
    """Return a copy of a model in which rays meet what collides and is no robot."""
    eyes = copy.copy(model)
    bodies = [model.body(index).name.startswith(prefixes) for index in range(model.nbody)]
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    eyes.geom_group[:] = np.where(collides & ~np.array(bodies)[model.geom_bodyid], 0, 5)
    eyes.geom_matid[:] = -1
    eyes.geom_rgba[:, 3] = 1.0
    return eyes


def distances(model, data, eye, rays):
    """Return how far rays go, -1 where nothing is."""
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    found, hit = np.zeros(len(rays)), np.zeros(len(rays), np.int32)
    mujoco.mj_multiRay(
        model, data, eye, rays.ravel(), groups, 1, -1, hit, found, None, len(rays), 100.0
    )
    return found


def errors(simulated, planned):
    """
    Return the 99th percentile of how far rays of many eyes end from each other (m).

    It is infinite where they do not meet the same things.
    """
    found, rng = [], np.random.default_rng(1)
    for angle in np.linspace(0.0, 6.0, 7):
        eye = 2.5 * np.array([np.cos(angle), np.sin(angle), 0.7])
        # Towards what is around the origin.
        rays = rng.uniform((-2.5, -2.5, -0.5), (2.5, 2.5, 1.5), (3000, 3)) - eye
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        one, other = distances(*simulated, eye, rays), distances(*planned, eye, rays)
        # A floor is a slab, with an end where the simulated one has none.
        both = (one > 0) & (other > 0) & (one < 15)
        agree = np.mean((one > 0)[one < 15] == (other > 0)[one < 15]) > 0.98
        assert np.mean(both) > 0.5
        found.append(np.abs(one - other)[both] if agree else [np.inf])
    return np.quantile(np.concatenate(found), 0.99)


@pytest.fixture
def scene(keep):
    """Return a function: config of a server -> a scene."""
    return lambda **config: keep(Scene(**config))


@pytest.mark.parametrize('world', world_names())
def test_a_planner_has_the_solid_scenery_of_every_world(scene, world):
    found = scene(world=world)
    found.client.set_paused(True)
    assert found.update() and found.error() < 3e-3
    assert not [name for name in found.objects if name.startswith(found.robots)]


def test_every_shape_is_there_and_follows_the_world(scene):
    found = scene(model=SHAPES)
    client = found.client
    client.set_paused(True)
    assert found.update() and not found.update()
    # Two have no name: a box of the world, and what the shed carries.
    assert {'floor', 'shed', 'hills', 'ball', 'hoop'} <= found.objects.keys()
    assert len(found.objects) == 7 and 'seen' not in found.objects
    assert found.topic.wire_needs() == {b'scene/'}
    assert found.error() < 2e-3
    client.set_mocap_pose('hoop', pos=(1.0, 1.0, 0.9), quat=(0.6, 0.8, 0.0, 0.0))
    client.set_entity_state('ball', pos=(0.0, -1.0, 0.7), quat=(0.8, 0.0, 0.0, 0.6))
    client.step(1, while_paused=True)
    assert found.error() > 2e-3
    moves = [(CollisionObject.MOVE, name) for name in ('ball', 'hoop')]
    assert sorted(found.update()) == moves and found.error() < 2e-3
    assert found.objects['hoop'].pose.position.z == pytest.approx(0.9)
    client.spawn_entity('pillar', xml=PILLAR, pos=(0.0, 1.5, 0.0))
    found.read_world()
    assert (CollisionObject.ADD, 'pillar') in found.update() and found.error() < 2e-3
    client.delete_entity('pillar')
    found.read_world()
    assert (CollisionObject.REMOVE, 'pillar') in found.update()
    # A new subscriber gets everything; without one there is nothing to publish.
    (publisher,) = found.node.publishers.values()
    publisher.subscribers = 2
    assert {name for _, name in found.update()} == found.objects.keys()
    publisher.subscribers = 0
    assert not found.update() and not found.topic.wire_needs()
