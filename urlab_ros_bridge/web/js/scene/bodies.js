// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The bodies of a world: models, poses and selection.

import * as THREE from '../../vendor/three/build/three.module.js';
import { GLTFLoader } from '../../vendor/three/examples/jsm/loaders/GLTFLoader.js';
import { toPlain } from './materials.js';

const ACCENT = new THREE.Color('#0fb5a5');
const POSE_EPSILON = 2e-5; // m, and of quaternions
const FLOOR_SIZE = 2; // m; larger flat meshes are floors

export class Bodies {
  constructor(stage) {
    this.stage = stage;
    this.loader = new GLTFLoader();
    this.models = new Map(); // digest -> promise of a scene
    this.root = new THREE.Group();
    stage.scene.add(this.root);
    this.groups = [];
    this.showsCollision = false;
    this.selected = -1;
    this.highlighted = new Map();
  }

  // Returns two promises: `first`, robots and their ground are loaded; `all`, every visible model is.
  setWorld(world) {
    this.select(-1);
    this.world = world;
    this.lastPoses = null;
    this.root.clear();
    this.groups = world.bodies.map((body) => {
      const group = new THREE.Group();
      group.userData.body = body.id;
      if (body.pose) setPose(group, body.pose, 0);
      this.root.add(group);
      return group;
    });
    // Forget models that this world does not use.
    const needed = new Set(world.bodies.flatMap((body) => [body.seen, body.colliding]));
    for (const digest of this.models.keys()) if (!needed.has(digest)) this.models.delete(digest);
    this.stage.ground.visible = false;
    const robots = new Set([0, ...world.robots.flatMap(({ bodies }) => bodies)]);
    const seen = world.bodies.filter((body) => body.seen);
    const load = (bodies) => Promise.all(bodies.map((body) => this.addModel(world, body)));
    const first = load(seen.filter(({ id }) => robots.has(id)));
    const others = load(seen.filter(({ id }) => !robots.has(id)));
    const all = Promise.all([first, others]).then(() => this.updateGround(world));
    return { first: world.robots.length ? first.then(() => this.updateGround(world)) : all, all };
  }

  // Load a glTF model, with materials that this machine can render.
  async loadModel(url) {
    const { scene } = await this.loader.loadAsync(url);
    scene.traverse((mesh) => {
      if (!mesh.isMesh) return;
      if (!mesh.geometry.attributes.normal) { // without normals glTF demands flat shading
        mesh.geometry = mesh.geometry.toNonIndexed();
        mesh.geometry.computeVertexNormals();
      }
      if (this.stage.quality === 'low') mesh.material = toPlain(mesh.material);
      else if (mesh.material.map) mesh.material.map.anisotropy = this.stage.renderer.capabilities.getMaxAnisotropy();
    });
    return scene;
  }

  // Show the ground if the world has no floor.
  updateGround(world) {
    if (this.world !== world) return;
    this.stage.ground.visible = !this.hasFloor();
    this.stage.touch();
  }

  async addModel(world, body) {
    const model = await this.cachedModel(body.seen);
    if (this.world !== world || !model) return;
    const part = model.clone();
    part.userData.kind = 'visual';
    part.traverse((mesh) => {
      if (!mesh.isMesh) return;
      mesh.userData.body = body.id;
      mesh.receiveShadow = true;
      mesh.castShadow = !isFloor(mesh) && !mesh.material.transparent;
    });
    part.visible = !this.showsCollision;
    this.groups[body.id].add(part);
    this.stage.touch();
  }

  cachedModel(digest) {
    if (!this.models.has(digest)) {
      this.models.set(digest, this.loadModel(`bodies/${digest}.glb`).catch(() => {
        this.models.delete(digest); // the world has changed: a new description follows
        return null;
      }));
    }
    return this.models.get(digest);
  }

  hasFloor() {
    let found = false;
    this.groups[0]?.traverse((mesh) => (found ||= mesh.isMesh && isFloor(mesh)));
    return found;
  }

  async setCollisionShapes(shown) {
    this.showsCollision = shown;
    const world = this.world;
    for (const body of shown ? world.bodies.filter((one) => one.colliding) : []) {
      const group = this.groups[body.id];
      if (group.children.some((part) => part.userData.kind === 'collision')) continue;
      const model = await this.cachedModel(body.colliding);
      if (this.world !== world || !model) return;
      const part = model.clone();
      part.userData.kind = 'collision';
      const color = new THREE.Color().setHSL((body.id * 0.381966) % 1, 0.45, 0.56);
      const material = this.stage.makeMaterial({ color, roughness: 0.8, transparent: true, opacity: 0.82, wireframe: true });
      part.traverse((mesh) => {
        if (!mesh.isMesh) return;
        mesh.userData.body = body.id;
        mesh.visible = !isFloor(mesh);
        mesh.material = material;
      });
      group.add(part);
    }
    for (const group of this.groups) {
      for (const part of group.children) {
        if (part.userData.kind) part.visible = (part.userData.kind === 'collision') === this.showsCollision;
      }
    }
    this.stage.touch();
  }

  setPoses(poses) {
    const { moving } = this.world;
    if (poses.length !== moving.length * 7) return;
    // Nothing moved: no redraw.
    if (this.lastPoses?.length === poses.length && poses.every((part, index) => Math.abs(part - this.lastPoses[index]) < POSE_EPSILON)) return;
    this.lastPoses = poses;
    for (let index = 0; index < moving.length; index += 1) setPose(this.groups[moving[index]], poses, index * 7);
    this.stage.touch();
  }

  select(body) {
    for (const [mesh, material] of this.highlighted) {
      mesh.material.dispose();
      mesh.material = material;
    }
    this.highlighted.clear();
    this.selected = body;
    if (body > 0) {
      this.groups[body].traverse((mesh) => {
        if (!mesh.isMesh || mesh.userData.body !== body) return;
        this.highlighted.set(mesh, mesh.material);
        mesh.material = mesh.material.clone();
        mesh.material.color.lerp(ACCENT, 0.45);
        mesh.material.emissive.copy(ACCENT);
        mesh.material.emissiveIntensity = 0.22;
      });
    }
    this.stage.touch();
  }

  // The nearest visible hit of a ray, {body, point, distance}, or null.
  hit(raycaster) {
    const hit = raycaster.intersectObjects(this.groups, true).find(({ object }) => isVisible(object));
    if (!hit) return null;
    const { object, point, distance } = hit;
    return { body: object.userData.body, point, distance };
  }

  bounds(bodies = this.world.moving) {
    const box = new THREE.Box3();
    this.root.updateMatrixWorld(true);
    for (const body of bodies) {
      // Only its models: laser scans and axes are children too.
      const part = new THREE.Box3();
      for (const model of this.groups[body].children) if (model.userData.kind) part.expandByObject(model);
      if (!part.isEmpty() && part.getSize(new THREE.Vector3()).length() < 60) box.union(part);
    }
    return box;
  }

  // A point given in the frame of a body, in the world frame.
  worldPoint(body, offset, target = new THREE.Vector3()) {
    const group = this.groups[body];
    return target.fromArray(offset).applyQuaternion(group.quaternion).add(group.position);
  }
}

function isVisible(object) {
  for (let node = object; node; node = node.parent) if (!node.visible) return false;
  return object.userData.body !== undefined;
}

function isFloor(mesh) {
  mesh.geometry.boundingBox ?? mesh.geometry.computeBoundingBox();
  const size = mesh.geometry.boundingBox.getSize(new THREE.Vector3());
  return size.y < 0.02 && Math.min(size.x, size.z) > FLOOR_SIZE;
}

export function setPose(object, row, start) {
  object.position.set(row[start], row[start + 1], row[start + 2]);
  object.quaternion.set(row[start + 3], row[start + 4], row[start + 5], row[start + 6]);
}
