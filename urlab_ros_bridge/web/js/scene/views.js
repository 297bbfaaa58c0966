// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Views: orbit around a point, follow a robot, or look through a camera of the world.

import * as THREE from '../../vendor/three/build/three.module.js';
import { OrbitControls } from '../../vendor/three/examples/jsm/controls/OrbitControls.js';
import { isPhone } from '../panels/dom.js';

const TRANSITION = 0.35; // s
const INITIAL_DIRECTION = new THREE.Vector3(0.82, 0.52, 0.78); // from which a new world is seen
const UP = new THREE.Vector3(0, 1, 0);
const FILL_RATIO = 0.62; // share of the space between the panels that a fitted box fills
const MIN_DISTANCE = 0.6; // m
const TRACKING_MARGIN = 0.5; // share of the way from the centre to the panels that a driven robot may move before the camera follows

export class Views extends EventTarget {
  constructor(stage, bodies) {
    super();
    Object.assign(this, { stage, bodies });
    this.controls = new OrbitControls(stage.camera, stage.renderer.domElement);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.14, zoomSpeed: 0.9, maxPolarAngle: Math.PI * 0.97, minDistance: 0.08, maxDistance: 90, zoomToCursor: true });
    this.controls.addEventListener('change', () => stage.touch());
    this.raycaster = new THREE.Raycaster();
    this.mode = 'orbit';
    this.target = null; // in follow mode a body, in camera mode a camera of the description
    this.tracked = null; // the body that is driven, which is kept in view
    stage.beforeFrame.push((seconds) => this.update(seconds));
  }

  // Frame a new world.
  frame(world) {
    this.world = world;
    const robots = world.robots.flatMap(({ bodies }) => bodies);
    const box = this.bodies.bounds(robots.length ? robots : world.moving);
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3()).expandByScalar(1);
    this.fit(box, true);
  }

  fit(box, isInitial = false) {
    if (!box || box.isEmpty()) return;
    if (this.mode === 'camera') this.set('orbit');
    const centre = box.getCenter(new THREE.Vector3());
    const { camera } = this.stage;
    const wanted = (isInitial ? INITIAL_DIRECTION : camera.position.clone().sub(this.controls.target)).clone().normalize();
    const direction = this.unobstructed(box, centre, wanted);
    const to = direction.clone().multiplyScalar(this.fittingDistance(box, centre, direction)).add(centre);
    this.moveTo(to, centre, isInitial ? 0 : TRANSITION);
  }

  // After a jump: bring bodies that are out of view back into it.
  showIfOutOfView(bodies) {
    if (this.mode !== 'orbit') return;
    const box = this.bodies.bounds(bodies);
    if (box.isEmpty()) return;
    const { x, y, z } = box.getCenter(new THREE.Vector3()).project(this.stage.camera), free = freeShare();
    if (Math.abs(x) > free.width || Math.abs(y) > free.height || z > 1) this.fit(box);
  }

  // The direction itself, unless a wall hides the box from there: then one beside it, or from higher up.
  unobstructed(box, centre, direction) {
    const top = centre.clone().setY(box.max.y);
    const isFree = (way) => [centre, top].every((point) => {
      this.raycaster.set(point, way);
      this.raycaster.far = this.fittingDistance(box, centre, way);
      return !this.raycaster.intersectObject(this.bodies.groups[0], true).some(({ object }) => !object.material.transparent);
    });
    for (const rise of [0, 0.6, 2]) {
      for (const degrees of [0, 40, -40, 80, -80, 130, -130, 180]) {
        const way = direction.clone().applyAxisAngle(UP, THREE.MathUtils.degToRad(degrees));
        way.y += rise;
        if (isFree(way.normalize())) return way;
      }
    }
    return direction;
  }

  // The distance from which a box fits between the panels, seen along a direction.
  fittingDistance(box, centre, direction) {
    const { camera } = this.stage;
    const right = new THREE.Vector3().crossVectors(camera.up, direction).normalize();
    if (!right.lengthSq()) right.set(1, 0, 0); // from straight above
    const up = new THREE.Vector3().crossVectors(direction, right);
    const halfHeight = Math.tan(THREE.MathUtils.degToRad(camera.fov / 2));
    const { width, height } = freeShare();
    let distance = MIN_DISTANCE;
    for (let corner = 0; corner < 8; corner += 1) {
      const at = new THREE.Vector3(...['x', 'y', 'z'].map((axis, bit) => box[corner & (1 << bit) ? 'max' : 'min'][axis])).sub(centre);
      const needed = Math.max(Math.abs(at.dot(right)) / (camera.aspect * width), Math.abs(at.dot(up)) / height) / (halfHeight * FILL_RATIO);
      distance = Math.max(distance, needed + at.dot(direction));
    }
    return distance;
  }

  moveTo(position, target, seconds) {
    if (!seconds) {
      this.stage.camera.position.copy(position);
      this.controls.target.copy(target);
      this.controls.update();
      this.transition = null;
      this.stage.touch();
      return;
    }
    this.transition = { from: this.stage.camera.position.clone(), to: position, aim: this.controls.target.clone(), at: target, share: 0, seconds };
  }

  set(mode, target = null) {
    if (this.mode === 'camera' && mode !== 'camera') {
      this.stage.camera.fov = 45;
      this.stage.camera.up.set(0, 1, 0);
      this.stage.camera.updateProjectionMatrix();
      if (this.savedView) this.moveTo(this.savedView.position, this.savedView.target, 0);
    }
    if (mode === 'camera' && this.mode !== 'camera') this.savedView = { position: this.stage.camera.position.clone(), target: this.controls.target.clone() };
    this.mode = mode;
    this.target = target;
    this.controls.enabled = mode !== 'camera';
    this.last = null;
    if (mode === 'follow' && target !== null) {
      const at = this.bodies.groups[target].position;
      const far = Math.max(1.2, Math.min(3.5, this.bodies.bounds(this.bodiesOfSameRoot(target)).getSize(new THREE.Vector3()).length() * 2));
      const back = this.stage.camera.position.clone().sub(this.controls.target).setLength(far);
      this.moveTo(at.clone().add(back), at.clone(), TRANSITION);
    }
    this.stage.touch();
    this.dispatchEvent(new Event('change'));
  }

  bodiesOfSameRoot(body) {
    const { root } = this.world.bodies[body];
    return this.world.bodies.filter((other) => other.root === root).map(({ id }) => id);
  }

  update(seconds) {
    const { camera } = this.stage;
    if (this.stage.renderer.xr.isPresenting) return;
    if (this.mode === 'camera') {
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
        if (this.transition) for (const point of [this.transition.from, this.transition.to, this.transition.aim, this.transition.at]) point.add(moved);
      }
      this.last = at.clone();
    }
    if (this.mode === 'orbit' && this.bodies.groups[this.tracked]) this.keepInView(this.bodies.groups[this.tracked].position);
    if (this.transition) {
      this.transition.share = Math.min(1, this.transition.share + seconds / this.transition.seconds);
      const eased = 1 - (1 - this.transition.share) ** 3;
      camera.position.lerpVectors(this.transition.from, this.transition.to, eased);
      this.controls.target.lerpVectors(this.transition.aim, this.transition.at, eased);
      if (this.transition.share === 1) this.transition = null;
      this.stage.touch();
    }
    this.controls.update();
    this.stage.focus.copy(this.controls.target);
    const distance = camera.position.distanceTo(this.controls.target);
    this.stage.reach = Math.min(14, Math.max(1.5, Math.round(distance * 1.6 * 2) / 2));
  }

  // Move the camera along when a point nears the panels.
  keepInView(at) {
    const { camera } = this.stage, free = freeShare();
    const offCentre = (point) => {
      const { x, y } = point.clone().project(camera);
      return Math.max(Math.abs(x) / free.width, Math.abs(y) / free.height);
    };
    if (this.last && offCentre(at) > TRACKING_MARGIN && offCentre(at) > offCentre(this.last)) {
      const moved = at.clone().sub(this.last);
      camera.position.add(moved);
      this.controls.target.add(moved);
      if (this.transition) for (const point of [this.transition.from, this.transition.to, this.transition.aim, this.transition.at]) point.add(moved);
    }
    this.last = at.clone();
  }

  // The body to keep in view, or null.
  setTracked(body) {
    this.tracked = body;
    if (this.mode === 'orbit') this.last = null;
  }
}

// Shares of the width and height that lie between the panels.
function freeShare() {
  const phone = isPhone();
  return { width: Math.max(0.45, 1 - (phone ? 20 : 580) / innerWidth), height: Math.max(0.5, 1 - (phone ? 260 : 150) / innerHeight) };
}

// The rotation of the axes (x, y, z) -> (x, z, -y), in the camera frame.
const CAMERA = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(1, 0, 0), -Math.PI / 2);
