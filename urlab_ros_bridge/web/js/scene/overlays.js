// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Overlays: contacts and forces, trails, frames, laser scans, names.

import * as THREE from '../../vendor/three/build/three.module.js';
import { LineMaterial } from '../../vendor/three/examples/jsm/lines/LineMaterial.js';
import { LineSegments2 } from '../../vendor/three/examples/jsm/lines/LineSegments2.js';
import { LineSegmentsGeometry } from '../../vendor/three/examples/jsm/lines/LineSegmentsGeometry.js';
import { el } from '../panels/dom.js';
import { DEFERRED_LAYER } from './stage.js';

const MAX_CONTACTS = 256;
const TRAIL_POINTS = 400, TRAIL_STEP = 0.012; // m
const UP = new THREE.Vector3(0, 1, 0);

export class Overlays {
  constructor(stage, bodies) {
    Object.assign(this, { stage, bodies });
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    this.contacts = makeContacts();
    this.group.add(this.contacts.group);
    this.shown = { contacts: false, trails: false, frames: false, scans: true, names: true };
    this.trails = [];
    this.scans = [];
    this.axes = [];
    this.names = [];
    this.labels = document.getElementById('labels');
    stage.beforeFrame.push(() => this.drawNames());
  }

  setWorld(world) {
    this.world = world;
    for (const part of [...this.trails, ...this.scans]) part.dispose();
    for (const axes of this.axes) axes.removeFromParent();
    this.axes = [];
    this.setContacts(new Float32Array(0));
    const colors = ['#0f9488', '#d9822b', '#5b6ee1', '#c2417c'];
    const tips = world.tips.map(({ body, offset }) => [body, offset]);
    const bases = world.robots.filter(({ free, base }) => free || (base && world.moving.includes(base) && !tips.length)).map(({ base }) => [base, [0, 0.02, 0]]);
    this.trails = [...bases, ...tips].map(([body, offset], index) => new Trail(this.group, body, offset, colors[index % colors.length]));
    this.scans = world.lidars.map((lidar) => new Scan(this.bodies.groups[lidar.body], lidar));
    this.labels.replaceChildren();
    this.names = world.robots.map((robot) => {
      const label = el('span', robot.prefix);
      this.labels.append(label);
      return { label, body: robot.base, height: null, robot };
    });
    for (const key of Object.keys(this.shown)) this.show(key, this.shown[key]);
  }

  show(key, visible) {
    this.shown[key] = visible;
    if (key === 'contacts') this.contacts.group.visible = visible;
    for (const trail of this.trails) trail.setVisible(this.shown.trails);
    for (const scan of this.scans) scan.group.visible = this.shown.scans;
    if (key === 'frames') this.showFrames(visible);
    this.labels.hidden = !this.shown.names;
    this.stage.touch();
  }

  showFrames(visible) {
    if (visible && !this.axes.length && this.world) {
      for (const body of this.world.moving) {
        const axes = new THREE.AxesHelper(0.14);
        axes.material.depthTest = false;
        axes.renderOrder = 5;
        // MuJoCo's axes: x red, y green, z blue and up.
        axes.rotation.x = -Math.PI / 2;
        this.bodies.groups[body].add(axes);
        this.axes.push(axes);
      }
    }
    for (const axes of this.axes) axes.visible = visible;
  }

  // After new poses.
  update(values, watched) {
    if (this.shown.trails) for (const trail of this.trails) trail.update(this.bodies);
    for (const scan of this.scans) {
      const ranges = watched.get(scan.lidar.channel);
      if (ranges && this.shown.scans) scan.update(ranges);
    }
  }

  clearTrails() {
    for (const trail of this.trails) trail.clear();
  }

  setContacts(rows) {
    this.rows = rows;
    this.contacts.set(rows);
    this.stage.touch();
  }

  drawNames() {
    if (!this.shown.names || !this.stage.dirty) return;
    const { camera } = this.stage;
    const at = new THREE.Vector3();
    for (const name of this.names) {
      const group = this.bodies.groups[name.body];
      if (!group || !name.body) {
        name.label.hidden = true;
        continue;
      }
      name.height ??= this.heightOf(name);
      at.copy(group.position).y += name.height + 0.06;
      at.project(camera);
      const isHidden = at.z > 1 || this.stage.renderer.xr.isPresenting;
      name.label.hidden = isHidden;
      if (!isHidden) name.label.style.transform = `translate(${((at.x + 1) / 2) * innerWidth}px, ${((1 - at.y) / 2) * innerHeight}px) translate(-50%, -100%)`;
    }
  }

  // Models were loaded: compute the heights of labels again.
  resetLabelHeights() {
    for (const name of this.names) name.height = null;
  }

  heightOf(name) {
    const box = this.bodies.bounds(name.robot.bodies);
    if (box.isEmpty()) return null;
    return box.max.y - this.bodies.groups[name.body].position.y;
  }
}

class Trail {
  constructor(parent, body, offset, color) {
    Object.assign(this, { body, offset });
    this.points = [];
    this.color = new THREE.Color(color);
    this.material = new LineMaterial({ linewidth: 2.5, vertexColors: true, transparent: true, opacity: 0.85 });
    this.line = new LineSegments2(new LineSegmentsGeometry(), this.material);
    this.line.frustumCulled = false;
    this.line.visible = false;
    parent.add(this.line);
  }

  setVisible(visible) {
    this.isVisible = visible;
    this.line.visible = visible && this.points.length > 1;
  }

  clear() {
    this.points = [];
    this.line.visible = false;
  }

  update(bodies) {
    const at = bodies.worldPoint(this.body, this.offset);
    const last = this.points.at(-1);
    const moved = last ? last.distanceTo(at) : Infinity;
    if (moved < TRAIL_STEP) return;
    if (moved > 0.6 && last) this.points = []; // a jump
    this.points.push(at);
    if (this.points.length > TRAIL_POINTS) this.points.shift();
    const count = this.points.length;
    if (count < 2) return;
    const positions = [], colors = [];
    for (let index = 1; index < count; index += 1) {
      positions.push(...this.points[index - 1], ...this.points[index]);
      const { r, g, b } = this.color;
      colors.push(r, g, b, r, g, b);
    }
    this.line.geometry.dispose();
    this.line.geometry = new LineSegmentsGeometry();
    this.line.geometry.setPositions(positions);
    this.line.geometry.setColors(colors);
    this.line.visible = this.isVisible;
  }

  dispose() {
    this.line.removeFromParent();
    this.line.geometry.dispose();
    this.material.dispose();
  }
}

class Scan {
  constructor(parent, lidar) {
    this.lidar = lidar;
    this.group = new THREE.Group();
    this.group.position.fromArray(lidar.pose);
    this.group.quaternion.fromArray(lidar.pose, 3);
    parent.add(this.group);
    const step = lidar.rays > 1 ? (lidar.angle_max - lidar.angle_min) / (lidar.rays - 1) : 0;
    this.directions = Array.from({ length: lidar.rays }, (_, ray) => {
      const angle = lidar.angle_min + ray * step;
      return [Math.cos(angle), -Math.sin(angle)]; // about the site's z, which is y here
    });
    this.positions = new THREE.BufferAttribute(new Float32Array(lidar.rays * 3), 3).setUsage(THREE.DynamicDrawUsage);
    const geometry = new THREE.BufferGeometry().setAttribute('position', this.positions);
    this.points = new THREE.Points(geometry, new THREE.PointsMaterial({ color: '#e0457b', size: 4, sizeAttenuation: false }));
    this.points.frustumCulled = false;
    this.fan = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ color: '#38a6c9', transparent: true, opacity: 0.045, side: THREE.DoubleSide, depthWrite: false }));
    this.fan.frustumCulled = false;
    const corners = new THREE.BufferAttribute(new Float32Array((lidar.rays + 1) * 3), 3).setUsage(THREE.DynamicDrawUsage);
    this.fan.geometry.setAttribute('position', corners);
    for (const part of [this.points, this.fan]) part.layers.set(DEFERRED_LAYER);
    this.group.add(this.points, this.fan);
  }

  update(ranges) {
    const positions = this.positions.array, corners = this.fan.geometry.attributes.position.array, faces = [];
    let count = 0, before = -2;
    for (let ray = 0; ray < this.lidar.rays; ray += 1) {
      const range = ranges[ray];
      if (!(range > 0) || !Number.isFinite(range)) continue;
      const [x, z] = this.directions[ray];
      positions.set([x * range, 0, z * range], count * 3);
      count += 1;
      corners.set([x * range, 0, z * range], (ray + 1) * 3);
      if (before === ray - 1) faces.push(0, ray, ray + 1);
      before = ray;
    }
    this.points.geometry.setDrawRange(0, count);
    this.positions.needsUpdate = true;
    this.fan.geometry.setIndex(faces);
    this.fan.geometry.attributes.position.needsUpdate = true;
  }

  dispose() {
    this.group.removeFromParent();
    this.points.geometry.dispose();
    this.fan.geometry.dispose();
  }
}

function makeContacts() {
  const group = new THREE.Group();
  group.visible = false;
  const material = new THREE.MeshBasicMaterial({ color: '#f59e0b', depthTest: false, transparent: true, opacity: 0.95 });
  const dots = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 10, 8), material, MAX_CONTACTS);
  const shafts = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), material, MAX_CONTACTS);
  const heads = new THREE.InstancedMesh(new THREE.ConeGeometry(1, 1, 12).translate(0, 0.5, 0), material, MAX_CONTACTS);
  for (const mesh of [dots, shafts, heads]) {
    mesh.count = 0;
    mesh.frustumCulled = false;
    mesh.renderOrder = 6;
    group.add(mesh);
  }
  const at = new THREE.Vector3(), force = new THREE.Vector3(), turn = new THREE.Quaternion();
  const matrix = new THREE.Matrix4(), size = new THREE.Vector3(), end = new THREE.Vector3();
  const set = (rows) => {
    const count = Math.min(rows.length / 6, MAX_CONTACTS);
    for (let index = 0; index < count; index += 1) {
      at.fromArray(rows, index * 6);
      force.fromArray(rows, index * 6 + 3);
      const newtons = force.length();
      // By the square root: one newton is visible, a thousand fit on the screen.
      const length = newtons > 1e-3 ? Math.min(0.9, 0.035 * Math.sqrt(newtons)) : 0;
      turn.setFromUnitVectors(UP, newtons > 1e-9 ? end.copy(force).divideScalar(newtons) : UP);
      dots.setMatrixAt(index, matrix.compose(at, turn, size.setScalar(0.009)));
      shafts.setMatrixAt(index, matrix.compose(at, turn, size.set(0.0042, Math.max(length, 1e-6), 0.0042)));
      end.set(0, length, 0).applyQuaternion(turn).add(at);
      const head = length > 0 ? Math.min(0.03, length * 0.4) : 1e-6;
      heads.setMatrixAt(index, matrix.compose(end, turn, size.set(head * 0.42, head, head * 0.42)));
    }
    for (const mesh of [dots, shafts, heads]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  };
  return { group, set };
}
