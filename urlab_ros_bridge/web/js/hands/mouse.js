// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The mouse in the world: select, push a body, lead a tip.

import * as THREE from '../../vendor/three/build/three.module.js';
import { SECOND } from '../scene/stage.js';

const CLICK = 5; // px that a click may wander
const TIP_SPEED = 0.25; // m/s by a gamepad
const PERIOD = 33; // ms between two requests of one hand
const EASY = { mouse: 9, pen: 9, touch: 22 }; // px around the middle of a handle where it is taken, however small it looks
const AROUND = 2.3; // radii of a handle, likewise
const SMALLEST = 3; // px that the ball of a handle has at least

export class Hands extends EventTarget {
  // Events: select (detail: a body or -1), busy (detail: whether a hand is at work).
  constructor(stage, bodies, views, connection) {
    super();
    Object.assign(this, { stage, bodies, views, connection });
    this.canvas = stage.renderer.domElement;
    this.raycaster = new THREE.Raycaster();
    this.tool = 'look';
    this.handles = [];
    this.job = null;
    this.arrow = makeArrow();
    stage.scene.add(this.arrow);
    this.canvas.addEventListener('pointerdown', (event) => this.down(event), true);
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) this.canvas.addEventListener(name, (event) => this.up(event, name));
    stage.drawers.push(() => this.draw());
  }

  setWorld(world) {
    this.world = world;
    this.end();
    for (const handle of this.handles) handle.removeFromParent();
    this.handles = world.tips.map((tip) => {
      const handle = makeHandle(tip.radius);
      handle.userData.tip = tip;
      this.stage.scene.add(handle);
      return handle;
    });
    this.showHandles(this.handlesShown ?? true);
  }

  showHandles(is) {
    this.handlesShown = is;
    for (const handle of this.handles) handle.visible = is;
    this.stage.touch();
  }

  aim(event) {
    const box = this.canvas.getBoundingClientRect();
    this.aimed = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.easy = EASY[event.pointerType] ?? EASY.touch;
    this.raycaster.setFromCamera(this.aimed, this.stage.camera);
  }

  // The handle that is nearest to the pointer on the screen, if it is near: those of a small hand overlap.
  handleUnder() {
    const { camera } = this.stage;
    const half = this.canvas.clientHeight / 2;
    let [nearest, least] = [null, Infinity];
    for (const handle of this.handles) {
      const at = handle.position.clone().project(camera);
      if (!handle.visible || Math.abs(at.z) > 1) continue;
      const away = Math.hypot((at.x - this.aimed.x) * half * camera.aspect, (at.y - this.aimed.y) * half);
      if (away < Math.max(this.easy, AROUND * handle.userData.tip.radius * this.pixels(handle)) && away < least) [nearest, least] = [handle, away];
    }
    return nearest;
  }

  // How many pixels a metre has where a handle is.
  pixels(handle) {
    const { camera } = this.stage;
    const depth = -handle.position.clone().applyMatrix4(camera.matrixWorldInverse).z;
    return (this.canvas.clientHeight * camera.projectionMatrix.elements[5]) / 2 / Math.max(depth, camera.near);
  }

  resize(handle) {
    const radius = Math.max(handle.userData.tip.radius, SMALLEST / this.pixels(handle));
    handle.scale.setScalar(radius * (handle.userData.lit ? 1.25 : 1));
  }

  down(event) {
    if (event.button !== 0 || !event.isPrimary || this.views.mode === 'first' || !this.world) return;
    this.pressed = { x: event.clientX, y: event.clientY };
    this.aim(event);
    const handle = this.handleUnder();
    if (handle) {
      this.begin(event, { kind: 'steer', handle, point: handle.position.clone(), goal: handle.position.clone() });
      return;
    }
    if (this.tool !== 'push' && !event.shiftKey) return;
    const hit = this.bodies.hit(this.raycaster);
    const body = hit && this.movable(hit.body);
    if (!body) return;
    const group = this.bodies.groups[body];
    const offset = hit.point.clone().sub(group.position).applyQuaternion(group.quaternion.clone().invert());
    this.begin(event, { kind: 'push', body, offset: offset.toArray(), point: hit.point.clone(), goal: hit.point.clone() });
  }

  // The body itself, when anything moves it.
  movable(body) {
    return this.world.moving.includes(body) && !this.world.bodies[body].mocap ? body : 0;
  }

  begin(event, job) {
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.job = { ...job, pointer: event.pointerId, started: true, last: 0 };
    this.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), job.point);
    this.views.controls.enabled = false;
    if (job.kind === 'steer') this.steer(true);
    this.dispatchEvent(new CustomEvent('busy', { detail: job.kind }));
  }

  move(event) {
    this.pointer = event;
    if (!this.job) {
      if (event.pointerType === 'mouse' && !event.buttons) this.hover(event);
      return;
    }
    if (event.pointerId !== this.job.pointer) return;
    this.aim(event);
    const at = this.raycaster.ray.intersectPlane(this.plane, new THREE.Vector3());
    if (at) this.job.goal.copy(at);
    this.send();
  }

  hover(event) {
    this.aim(event);
    const handle = this.handleUnder();
    this.canvas.classList.toggle('over-handle', Boolean(handle));
    for (const other of this.handles) {
      const lit = other === handle;
      if (other.userData.lit !== lit) {
        other.userData.lit = lit;
        this.stage.touch();
      }
    }
  }

  up(event, name) {
    if (this.job && event.pointerId === this.job.pointer) {
      this.end();
      this.pressed = null;
      return;
    }
    if (name !== 'pointerup' || !this.pressed) return;
    const wandered = Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y);
    this.pressed = null;
    if (wandered > CLICK || this.job) return;
    this.aim(event);
    const hit = this.bodies.hit(this.raycaster);
    this.dispatchEvent(new CustomEvent('select', { detail: hit && hit.body > 0 ? hit.body : -1 }));
  }

  end() {
    const { job } = this;
    this.job = null;
    this.arrow.visible = false;
    this.views.controls.enabled = this.views.mode !== 'first';
    if (job?.kind === 'push') this.connection.tell('push', { body: job.body });
    if (job) this.dispatchEvent(new CustomEvent('busy', { detail: null }));
    this.stage.touch();
  }

  // A hand that holds still goes on: what is not repeated ends.
  send() {
    const now = performance.now();
    if (!this.job || now - this.job.last < PERIOD) return;
    this.job.last = now;
    if (this.job.kind === 'steer') this.steer(false);
    else this.connection.tell('push', { body: this.job.body, point: this.job.offset, target: this.job.goal.toArray() });
  }

  // Move the tip of the selected robot, or the only one, by a gamepad: right, up and towards the viewer.
  moveTip(push, seconds) {
    if (!push.some(Boolean) || this.job || !this.world) {
      this.led = null;
      return;
    }
    const prefix = this.world.bodies[this.bodies.selected]?.robot;
    const handle = this.led?.handle ?? this.handles.find(({ userData }) => userData.tip.robot === prefix) ?? (this.handles.length === 1 ? this.handles[0] : null);
    if (!handle) return;
    const begin = !this.led;
    this.led ??= { handle, goal: handle.position.clone() };
    const turn = new THREE.Euler().setFromQuaternion(this.stage.camera.quaternion, 'YXZ').y;
    this.led.goal.add(new THREE.Vector3(...push).applyAxisAngle(new THREE.Vector3(0, 1, 0), turn).multiplyScalar(TIP_SPEED * seconds));
    this.connection.tell('steer', { tip: handle.userData.tip.id, position: this.led.goal.toArray(), begin });
  }

  steer(begin) {
    const { handle, goal } = this.job;
    this.connection.tell('steer', { tip: handle.userData.tip.id, position: goal.toArray(), begin });
  }

  draw() {
    for (const handle of this.handles) {
      const { body, offset } = handle.userData.tip;
      if (this.job?.handle === handle) handle.position.copy(this.job.goal);
      else if (this.bodies.groups[body]) this.bodies.at(body, offset, handle.position);
      this.resize(handle);
    }
    if (!this.job) return;
    if (this.job.kind === 'push') {
      this.bodies.at(this.job.body, this.job.offset, this.job.point);
      const way = this.job.goal.clone().sub(this.job.point);
      this.arrow.visible = way.length() > 0.005;
      this.arrow.point(this.job.point, way);
    }
    this.send();
    this.stage.touch();
  }
}

function makeHandle(radius) {
  const handle = new THREE.Group();
  const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), new THREE.MeshBasicMaterial({ color: '#12b5a6', transparent: true, opacity: 0.85, depthTest: false }));
  const ring = new THREE.Mesh(new THREE.TorusGeometry(1.64, 0.16, 12, 48), new THREE.MeshBasicMaterial({ color: '#ffffff', transparent: true, opacity: 0.9, depthTest: false }));
  ball.renderOrder = ring.renderOrder = 8;
  for (const part of [ball, ring]) part.layers.set(SECOND);
  ring.onBeforeRender = (renderer, scene, camera) => ring.quaternion.copy(camera.quaternion);
  handle.add(ball, ring);
  handle.scale.setScalar(radius);
  return handle;
}

function makeArrow() {
  const arrow = new THREE.Group();
  const ink = new THREE.MeshBasicMaterial({ color: '#f97316', depthTest: false, transparent: true });
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.006, 0.006, 1, 12).translate(0, 0.5, 0), ink);
  const head = new THREE.Mesh(new THREE.ConeGeometry(0.022, 0.055, 20).translate(0, 0.0275, 0), ink);
  const grip = new THREE.Mesh(new THREE.SphereGeometry(0.014, 16, 12), ink);
  for (const mesh of [shaft, head, grip]) mesh.renderOrder = 9;
  arrow.add(shaft, head, grip);
  arrow.visible = false;
  arrow.point = (from, way) => {
    const length = Math.max(way.length(), 1e-4);
    arrow.position.copy(from);
    arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.clone().divideScalar(length));
    shaft.scale.y = length;
    head.position.y = length;
  };
  return arrow;
}
