// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// A soft dark spot under whatever moves, where a processor draws: without shadows robots would seem to float.

import * as THREE from '../../vendor/three/build/three.module.js';
import { DEFERRED_LAYER } from './stage.js';

const PERIOD = 200; // ms between two measurements
const DARKNESS = 0.5, FADED_AT = 0.5; // m above the ground
const SPREAD = 1.25; // sizes of the body
const GAP = 0.004; // m above the ground
const DOWN = new THREE.Vector3(0, -1, 0);

export class ContactShadows {
  constructor(stage, bodies) {
    Object.assign(this, { stage, bodies });
    this.shadows = [];
    this.measuredAt = 0;
    this.raycaster = new THREE.Raycaster();
    this.texture = spot();
    stage.beforeFrame.push((seconds, time) => this.update(time));
  }

  setWorld(world) {
    for (const { mesh } of this.shadows) mesh.removeFromParent();
    const roots = new Map(); // root that moves -> its bodies
    for (const { id, root, mocap } of world.bodies) if (world.moving.includes(root) && !mocap) roots.set(root, [...(roots.get(root) ?? []), id]);
    this.shadows = [...roots].map(([root, family]) => {
      const material = new THREE.MeshBasicMaterial({ map: this.texture, transparent: true, depthWrite: false, opacity: 0, toneMapped: false, polygonOffset: true, polygonOffsetFactor: -2 });
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1).rotateX(-Math.PI / 2), material);
      mesh.layers.set(DEFERRED_LAYER);
      this.stage.scene.add(mesh);
      return { root, family, mesh, offset: new THREE.Vector3() };
    });
  }

  update(time) {
    if (!this.stage.dirty) return;
    const isDue = time - this.measuredAt > PERIOD;
    if (isDue) this.measuredAt = time;
    for (const shadow of this.shadows) {
      if (isDue) this.measure(shadow);
      const { x, z } = this.bodies.groups[shadow.root].position;
      shadow.mesh.position.set(x + shadow.offset.x, shadow.offset.y, z + shadow.offset.z);
    }
  }

  // Size, and the height of the ground below.
  measure({ root, family, mesh, offset }) {
    const box = this.bodies.bounds(family), { position } = this.bodies.groups[root];
    mesh.visible = !box.isEmpty();
    if (!mesh.visible) return;
    const centre = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3());
    this.raycaster.set(centre, DOWN);
    const ground = this.raycaster.intersectObject(this.bodies.groups[0], true)[0]?.point.y ?? 0;
    mesh.material.opacity = DARKNESS * Math.max(0, 1 - Math.max(0, box.min.y - ground) / FADED_AT);
    mesh.scale.set(size.x * SPREAD, 1, size.z * SPREAD);
    offset.set(centre.x - position.x, ground + GAP, centre.z - position.z);
  }
}

// Black, fading out towards the edge.
function spot() {
  const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 });
  const context = canvas.getContext('2d');
  const fade = context.createRadialGradient(32, 32, 4, 32, 32, 32);
  fade.addColorStop(0, '#000');
  fade.addColorStop(0.55, '#0008');
  fade.addColorStop(1, '#0000');
  context.fillStyle = fade;
  context.fillRect(0, 0, 64, 64);
  return new THREE.CanvasTexture(canvas);
}
