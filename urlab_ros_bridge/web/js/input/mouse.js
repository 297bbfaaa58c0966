// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Mouse, pen and touch on the scene: select a body, push it, drag or turn a tip, aim at a pose.

import * as THREE from '../../vendor/three/build/three.module.js';
import { DEFERRED_LAYER } from '../scene/stage.js';

const CLICK_TOLERANCE = 5; // px that the pointer may move during a click
const TIP_SPEED = 0.25; // m/s, by gamepad
const TURN_PER_PIXEL = 0.01; // rad
const PERIOD = 33; // ms between requests of one drag
const GRAB_RADIUS = { mouse: 9, pen: 9, touch: 22 }; // px around the centre of a handle, however small it is drawn
const GRAB_FACTOR = 2.3; // the same in radii of the handle
const MIN_BALL_RADIUS = 3; // px
const MIN_AIM = 0.05; // m between a place and the point that it faces
const UP = new THREE.Vector3(0, 1, 0);

export class PointerTool extends EventTarget {
  // Events: select (detail: a body or -1), place (detail: a point, with the tool 'place'), aim (detail: a
  // point, the goal that it faces, isDone; with the tool 'aim').
  constructor(stage, bodies, views, connection) {
    super();
    Object.assign(this, { stage, bodies, views, connection });
    this.canvas = stage.renderer.domElement;
    this.raycaster = new THREE.Raycaster();
    this.tool = 'select';
    this.handles = [];
    this.drag = null;
    this.arrow = makeArrow();
    stage.scene.add(this.arrow);
    this.canvas.addEventListener('pointerdown', (event) => this.down(event), true);
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) this.canvas.addEventListener(name, (event) => this.up(event, name));
    stage.beforeFrame.push(() => this.draw());
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

  // One of select, push, turn, place and aim.
  setTool(tool) {
    this.tool = tool;
    this.aimed = null;
    if (this.drag?.kind === 'aim') this.end();
  }

  showHandles(is) {
    this.handlesShown = is;
    for (const handle of this.handles) handle.visible = is;
    this.stage.touch();
  }

  castRay(event) {
    const box = this.canvas.getBoundingClientRect();
    this.pointerNdc = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.grabRadius = GRAB_RADIUS[event.pointerType] ?? GRAB_RADIUS.touch;
    this.raycaster.setFromCamera(this.pointerNdc, this.stage.camera);
  }

  // The handle that is nearest to the pointer on the screen, if it is near: those of a small hand overlap.
  handleAtPointer() {
    const { camera } = this.stage;
    const half = this.canvas.clientHeight / 2;
    let [nearest, shortest] = [null, Infinity];
    for (const handle of this.handles) {
      const at = handle.position.clone().project(camera);
      if (!handle.visible || Math.abs(at.z) > 1) continue;
      const distance = Math.hypot((at.x - this.pointerNdc.x) * half * camera.aspect, (at.y - this.pointerNdc.y) * half);
      if (distance < Math.max(this.grabRadius, GRAB_FACTOR * handle.userData.tip.radius * this.pixels(handle)) && distance < shortest) [nearest, shortest] = [handle, distance];
    }
    return nearest;
  }

  // Pixels per metre at a handle.
  pixels(handle) {
    const { camera } = this.stage;
    const depth = -handle.position.clone().applyMatrix4(camera.matrixWorldInverse).z;
    return (this.canvas.clientHeight * camera.projectionMatrix.elements[5]) / 2 / Math.max(depth, camera.near);
  }

  resize(handle) {
    const radius = Math.max(handle.userData.tip.radius, MIN_BALL_RADIUS / this.pixels(handle));
    handle.scale.setScalar(radius * (handle.userData.isHovered ? 1.25 : 1));
  }

  down(event) {
    if (event.button !== 0 || !event.isPrimary || this.views.mode === 'camera' || !this.world) return;
    this.pressed = { x: event.clientX, y: event.clientY };
    this.castRay(event);
    if (this.tool === 'aim') {
      const point = this.aimed ?? this.groundPoint(this.bodies.hit(this.raycaster));
      if (!point) return;
      this.begin(event, { kind: 'aim', point, goal: point.clone(), isSecond: Boolean(this.aimed) }, UP);
      this.move(event);
      return;
    }
    const handle = this.tool !== 'place' && this.handleAtPointer();
    if (handle) {
      const turns = (event.shiftKey || this.tool === 'turn') && handle.userData.tip.turns;
      this.begin(event, { kind: 'steer', handle, turns, at: this.pressed, turn: new THREE.Quaternion(), point: handle.position.clone(), goal: handle.position.clone() });
      return;
    }
    if (this.tool !== 'push' && !event.shiftKey) return;
    const hit = this.bodies.hit(this.raycaster);
    const body = hit && this.pushable(hit.body);
    if (!body) return;
    const group = this.bodies.groups[body];
    const offset = hit.point.clone().sub(group.position).applyQuaternion(group.quaternion.clone().invert());
    this.begin(event, { kind: 'push', body, offset: offset.toArray(), point: hit.point.clone(), goal: hit.point.clone() });
  }

  // The body if a force can move it, else 0.
  pushable(body) {
    return this.world.moving.includes(body) && !this.world.bodies[body].mocap ? body : 0;
  }

  // What was hit, else the ground below the pointer.
  groundPoint(hit) {
    return hit?.point ?? this.raycaster.ray.intersectPlane(new THREE.Plane(UP, 0), new THREE.Vector3());
  }

  // Drag in the plane of the view, or in that of a normal.
  begin(event, drag, normal = this.stage.camera.getWorldDirection(new THREE.Vector3())) {
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { ...drag, pointer: event.pointerId, last: 0 };
    this.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, drag.point);
    this.views.controls.enabled = false;
    if (drag.kind === 'steer') this.steer(true);
  }

  move(event) {
    if (!this.drag) {
      if (event.pointerType === 'mouse' && !event.buttons) this.hover(event);
      const facing = this.aimed && this.raycaster.ray.intersectPlane(this.plane, new THREE.Vector3());
      if (facing) this.aim(this.aimed, facing);
      return;
    }
    if (event.pointerId !== this.drag.pointer) return;
    this.castRay(event);
    const at = this.raycaster.ray.intersectPlane(this.plane, new THREE.Vector3());
    if (this.drag.turns) this.turn(event);
    else if (at) this.drag.goal.copy(at);
    if (this.drag.kind === 'aim') this.aim(this.drag.point, this.drag.goal);
    this.send();
  }

  aim(point, goal, isDone = false) {
    this.dispatchEvent(new CustomEvent('aim', { detail: { point, goal, isDone } }));
  }

  // A click says where, the next one or a drag which way.
  endAim({ point, goal, isSecond }, isClick) {
    this.end();
    this.aimed = point;
    this.aim(point, goal, (isSecond || !isClick) && point.distanceTo(goal) > MIN_AIM);
  }

  // Rotate the tip as a ball under the pointer: about the axes of the view.
  turn(event) {
    const { drag } = this;
    const axis = new THREE.Vector3(event.clientY - drag.at.y, event.clientX - drag.at.x, 0);
    drag.at = { x: event.clientX, y: event.clientY };
    const angle = axis.length() * TURN_PER_PIXEL;
    if (angle) drag.turn.premultiply(new THREE.Quaternion().setFromAxisAngle(axis.normalize().applyQuaternion(this.stage.camera.quaternion), angle));
  }

  // Close or open the gripper at a tip.
  toggleGrip(tip) {
    if (!tip?.grips) return;
    tip.isClosed = !tip.isClosed;
    this.connection.send('steer', { tip: tip.id, grip: tip.isClosed ? 1 : 0 });
  }

  // The tip of the selected robot, or the only one.
  get chosenTip() {
    const prefix = this.world?.bodies[this.bodies.selected]?.robot;
    const tips = this.handles.map(({ userData }) => userData.tip);
    return this.lastTip && tips.includes(this.lastTip) ? this.lastTip : tips.find(({ robot }) => robot === prefix) ?? (tips.length === 1 ? tips[0] : null);
  }

  hover(event) {
    this.castRay(event);
    const handle = this.handleAtPointer();
    this.canvas.classList.toggle('over-handle', Boolean(handle));
    for (const other of this.handles) {
      const isHovered = other === handle;
      if (other.userData.isHovered !== isHovered) {
        other.userData.isHovered = isHovered;
        this.stage.touch();
      }
    }
  }

  up(event, name) {
    if (this.drag && event.pointerId === this.drag.pointer) {
      const { handle } = this.drag, { pressed } = this;
      const isClick = pressed && name === 'pointerup' && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= CLICK_TOLERANCE;
      this.pressed = null;
      if (this.drag.kind === 'aim' && name === 'pointerup') {
        this.endAim(this.drag, isClick);
        return;
      }
      if (handle && isClick) this.toggleGrip(handle.userData.tip);
      if (handle) this.lastTip = handle.userData.tip;
      this.end();
      return;
    }
    if (name !== 'pointerup' || !this.pressed) return;
    const moved = Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y);
    this.pressed = null;
    if (moved > CLICK_TOLERANCE || this.drag) return;
    this.castRay(event);
    const hit = this.bodies.hit(this.raycaster);
    if (this.tool === 'place') {
      const at = this.groundPoint(hit);
      if (at) this.dispatchEvent(new CustomEvent('place', { detail: at.toArray() }));
      return;
    }
    this.dispatchEvent(new CustomEvent('select', { detail: hit && hit.body > 0 ? hit.body : -1 }));
  }

  end() {
    const { drag } = this;
    this.drag = null;
    this.arrow.visible = false;
    this.views.controls.enabled = this.views.mode !== 'camera';
    if (drag?.kind === 'push') this.connection.send('push', { body: drag.body });
    this.stage.touch();
  }

  // Repeated while the pointer rests: the gateway ends a drag that is not repeated.
  send() {
    const now = performance.now();
    if (!this.drag || now - this.drag.last < PERIOD) return;
    this.drag.last = now;
    if (this.drag.kind === 'steer') this.steer(false);
    else if (this.drag.kind === 'push') this.connection.send('push', { body: this.drag.body, point: this.drag.offset, target: this.drag.goal.toArray() });
  }

  // Move the tip of the selected robot, or the only tip, by gamepad: right, up and towards the viewer.
  moveTip(push, seconds) {
    if (!push.some(Boolean) || this.drag || !this.world) {
      this.gamepadDrag = null;
      return;
    }
    const prefix = this.world.bodies[this.bodies.selected]?.robot;
    const handle = this.gamepadDrag?.handle ?? this.handles.find(({ userData }) => userData.tip.robot === prefix) ?? (this.handles.length === 1 ? this.handles[0] : null);
    if (!handle) return;
    const begin = !this.gamepadDrag;
    this.gamepadDrag ??= { handle, goal: handle.position.clone() };
    const turn = new THREE.Euler().setFromQuaternion(this.stage.camera.quaternion, 'YXZ').y;
    this.gamepadDrag.goal.add(new THREE.Vector3(...push).applyAxisAngle(UP, turn).multiplyScalar(TIP_SPEED * seconds));
    this.connection.send('steer', { tip: handle.userData.tip.id, position: this.gamepadDrag.goal.toArray(), begin });
  }

  steer(begin) {
    const { handle, goal, turn } = this.drag;
    this.connection.send('steer', { tip: handle.userData.tip.id, position: goal.toArray(), turn: turn.toArray(), begin });
  }

  draw() {
    for (const handle of this.handles) {
      const { body, offset } = handle.userData.tip;
      if (this.drag?.handle === handle) handle.position.copy(this.drag.goal);
      else if (this.bodies.groups[body]) this.bodies.worldPoint(body, offset, handle.position);
      this.resize(handle);
    }
    if (!this.drag) return;
    if (this.drag.kind === 'push') {
      this.bodies.worldPoint(this.drag.body, this.drag.offset, this.drag.point);
      const pull = this.drag.goal.clone().sub(this.drag.point);
      this.arrow.visible = pull.length() > 0.005;
      this.arrow.point(this.drag.point, pull);
    }
    this.send();
    this.stage.touch();
  }
}

function makeHandle(radius) {
  const handle = new THREE.Group();
  const part = (geometry, color, opacity, renderOrder) => {
    const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color, opacity, transparent: true, depthTest: false }));
    mesh.renderOrder = renderOrder;
    mesh.layers.set(DEFERRED_LAYER);
    handle.add(mesh);
    return mesh;
  };
  part(new THREE.SphereGeometry(1, 24, 16), '#12b5a6', 0.85, 8);
  // The dark rim shows the ring before white walls too.
  for (const ring of [part(new THREE.TorusGeometry(1.64, 0.3, 12, 48), '#0b3b37', 0.6, 7), part(new THREE.TorusGeometry(1.64, 0.16, 12, 48), '#ffffff', 0.9, 8)]) {
    ring.onBeforeRender = (renderer, scene, camera) => ring.quaternion.copy(camera.quaternion);
  }
  handle.scale.setScalar(radius);
  return handle;
}

export function makeArrow(color = '#f97316') {
  const arrow = new THREE.Group();
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true });
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.006, 0.006, 1, 12).translate(0, 0.5, 0), material);
  const head = new THREE.Mesh(new THREE.ConeGeometry(0.022, 0.055, 20).translate(0, 0.0275, 0), material);
  const grip = new THREE.Mesh(new THREE.SphereGeometry(0.014, 16, 12), material);
  for (const mesh of [shaft, head, grip]) mesh.renderOrder = 9;
  arrow.add(shaft, head, grip);
  arrow.visible = false;
  arrow.point = (from, vector) => {
    const length = Math.max(vector.length(), 1e-4);
    arrow.position.copy(from);
    arrow.quaternion.setFromUnitVectors(UP, vector.clone().divideScalar(length));
    shaft.scale.y = length;
    head.position.y = length;
  };
  return arrow;
}
