// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Where one looks from: around something, after a robot, or through a camera of the world.

import * as THREE from '../../vendor/three/build/three.module.js';
import { OrbitControls } from '../../vendor/three/examples/jsm/controls/OrbitControls.js';
import { isPhone } from '../panels/dom.js';

const GLIDE = 0.35; // s
const AT_FIRST = new THREE.Vector3(0.82, 0.52, 0.78); // where a new world is seen from
const FILLED = 0.62; // how much of the place between the panels is filled by what is to be seen
const NEAREST = 0.6; // m
const KEPT = 0.5; // how far from the middle what is driven may get, of the way to the panels

export class Views extends EventTarget {
  constructor(stage, bodies) {
    super();
    Object.assign(this, { stage, bodies });
    this.controls = new OrbitControls(stage.camera, stage.renderer.domElement);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.14, zoomSpeed: 0.9, maxPolarAngle: Math.PI * 0.97, minDistance: 0.08, maxDistance: 90, zoomToCursor: true });
    this.controls.addEventListener('change', () => stage.touch());
    this.mode = 'orbit';
    this.target = null; // of follow: a body; of first: a camera of the description
    this.kept = null; // a body that does not leave the picture, while it is driven
    stage.drawers.push((seconds) => this.update(seconds));
  }

  // Show a world that was not there before.
  frame(world) {
    this.world = world;
    const robots = world.robots.flatMap(({ bodies }) => bodies);
    const box = this.bodies.bounds(robots.length ? robots : world.moving);
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3()).expandByScalar(1);
    this.home = box;
    this.fit(box, true);
  }

  fit(box, soon = false) {
    if (!box || box.isEmpty()) return;
    if (this.mode === 'first') this.set('orbit');
    const centre = box.getCenter(new THREE.Vector3());
    const { camera } = this.stage;
    const way = (soon ? AT_FIRST : camera.position.clone().sub(this.controls.target)).clone().normalize();
    const to = way.clone().multiplyScalar(this.distance(box, centre, way)).add(centre);
    this.glide(to, centre, soon ? 0 : GLIDE);
  }

  // After a jump, bodies that have left the picture are shown again.
  showAgain(bodies) {
    if (this.mode !== 'orbit') return;
    const box = this.bodies.bounds(bodies);
    if (box.isEmpty()) return;
    const { x, y, z } = box.getCenter(new THREE.Vector3()).project(this.stage.camera), free = freeShare();
    if (Math.abs(x) > free.wide || Math.abs(y) > free.high || z > 1) this.fit(box);
  }

  // How far away a box fits between the panels, seen along a way to its centre.
  distance(box, centre, way) {
    const { camera } = this.stage;
    const across = new THREE.Vector3().crossVectors(camera.up, way).normalize();
    if (!across.lengthSq()) across.set(1, 0, 0); // from right above
    const up = new THREE.Vector3().crossVectors(way, across);
    const steep = Math.tan(THREE.MathUtils.degToRad(camera.fov / 2));
    const { wide, high } = freeShare();
    let found = NEAREST;
    for (let corner = 0; corner < 8; corner += 1) {
      const at = new THREE.Vector3(...['x', 'y', 'z'].map((axis, bit) => box[corner & (1 << bit) ? 'max' : 'min'][axis])).sub(centre);
      const needed = Math.max(Math.abs(at.dot(across)) / (camera.aspect * wide), Math.abs(at.dot(up)) / high) / (steep * FILLED);
      found = Math.max(found, needed + at.dot(way));
    }
    return found;
  }

  glide(position, target, seconds) {
    if (!seconds) {
      this.stage.camera.position.copy(position);
      this.controls.target.copy(target);
      this.controls.update();
      this.way = null;
      this.stage.touch();
      return;
    }
    this.way = { from: this.stage.camera.position.clone(), to: position, aim: this.controls.target.clone(), at: target, share: 0, seconds };
  }

  set(mode, target = null) {
    if (this.mode === 'first' && mode !== 'first') {
      this.stage.camera.fov = 45;
      this.stage.camera.up.set(0, 1, 0);
      this.stage.camera.updateProjectionMatrix();
      if (this.before) this.glide(this.before.position, this.before.target, 0);
    }
    if (mode === 'first' && this.mode !== 'first') this.before = { position: this.stage.camera.position.clone(), target: this.controls.target.clone() };
    this.mode = mode;
    this.target = target;
    this.controls.enabled = mode !== 'first';
    this.last = null;
    if (mode === 'follow' && target !== null) {
      const at = this.bodies.groups[target].position;
      const far = Math.max(1.2, Math.min(3.5, this.bodies.bounds(this.family(target)).getSize(new THREE.Vector3()).length() * 2));
      const back = this.stage.camera.position.clone().sub(this.controls.target).setLength(far);
      this.glide(at.clone().add(back), at.clone(), GLIDE);
    }
    this.stage.touch();
    this.dispatchEvent(new Event('change'));
  }

  family(body) {
    const { root } = this.world.bodies[body];
    return this.world.bodies.filter((other) => other.root === root).map(({ id }) => id);
  }

  update(seconds) {
    const { camera } = this.stage;
    if (this.stage.renderer.xr.isPresenting) return;
    if (this.mode === 'first') {
      const { body, pose, fovy } = this.target;
      const group = this.bodies.groups[body];
      camera.position.fromArray(pose).applyQuaternion(group.quaternion).add(group.position);
      // MuJoCo's cameras look along their -z with y up: turned with the axes, those are y and -z here.
      camera.quaternion.fromArray(pose, 3).premultiply(group.quaternion).multiply(CAMERA);
      if (camera.fov !== fovy) {
        camera.fov = fovy;
        camera.updateProjectionMatrix();
      }
      this.stage.focus.copy(camera.position);
      return;
    }
    if (this.mode === 'follow' && this.target !== null && this.bodies.groups[this.target]) {
      const at = this.bodies.groups[this.target].position;
      if (this.last) {
        const moved = at.clone().sub(this.last);
        camera.position.add(moved);
        this.controls.target.add(moved);
        if (this.way) for (const point of [this.way.from, this.way.to, this.way.aim, this.way.at]) point.add(moved);
      }
      this.last = at.clone();
    }
    if (this.mode === 'orbit' && this.bodies.groups[this.kept]) this.keep(this.bodies.groups[this.kept].position);
    if (this.way) {
      this.way.share = Math.min(1, this.way.share + seconds / this.way.seconds);
      const eased = 1 - (1 - this.way.share) ** 3;
      camera.position.lerpVectors(this.way.from, this.way.to, eased);
      this.controls.target.lerpVectors(this.way.aim, this.way.at, eased);
      if (this.way.share === 1) this.way = null;
      this.stage.touch();
    }
    this.controls.update();
    this.stage.focus.copy(this.controls.target);
    const distance = camera.position.distanceTo(this.controls.target);
    this.stage.reach = Math.min(14, Math.max(1.5, Math.round(distance * 1.6 * 2) / 2));
  }

  // Towards the edge of what is free between the panels, the camera goes along.
  keep(at) {
    const { camera } = this.stage, free = freeShare();
    const out = (point) => {
      const { x, y } = point.clone().project(camera);
      return Math.max(Math.abs(x) / free.wide, Math.abs(y) / free.high);
    };
    if (this.last && out(at) > KEPT && out(at) > out(this.last)) {
      const moved = at.clone().sub(this.last);
      camera.position.add(moved);
      this.controls.target.add(moved);
      if (this.way) for (const point of [this.way.from, this.way.to, this.way.aim, this.way.at]) point.add(moved);
    }
    this.last = at.clone();
  }

  // A body that is driven, or null.
  setKept(body) {
    this.kept = body;
    if (this.mode === 'orbit') this.last = null;
  }
}

// Which shares of the width and height are between the panels.
function freeShare() {
  const phone = isPhone();
  return { wide: Math.max(0.45, 1 - (phone ? 20 : 580) / innerWidth), high: Math.max(0.5, 1 - (phone ? 260 : 150) / innerHeight) };
}

// The turn of the axes (x, y, z) -> (x, z, -y), on the side of the camera.
const CAMERA = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(1, 0, 0), -Math.PI / 2);
