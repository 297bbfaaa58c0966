// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Meshes and point clouds that clients publish.

import * as THREE from '../../vendor/three/build/three.module.js';

const COLORS = ['#d9822b', '#5b6ee1', '#c2417c', '#0f9488', '#6a9a23', '#8b5cf6'];

export class Published {
  constructor(stage, bodies) {
    Object.assign(this, { stage, bodies });
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    this.clear();
  }

  clear() {
    this.group.clear();
    this.meshes = new Map(); // id -> group; the model is added once loaded
    this.clouds = new Map();
  }

  set({ meshes, assets, overlays }) {
    for (const [shown, published] of [[this.meshes, meshes], [this.clouds, overlays]]) {
      for (const [id, part] of shown) {
        if (id in published) continue;
        part.removeFromParent();
        shown.delete(id);
      }
    }
    for (const [id, uri] of Object.entries(assets)) this.load(id, uri);
    for (const [id, { translation, rotation_xyzw: rotation, scale, visible }] of Object.entries(meshes)) {
      const mesh = this.meshes.get(id);
      if (!mesh) continue; // its data arrives with the next message
      mesh.position.fromArray(translation);
      mesh.quaternion.fromArray(rotation);
      mesh.scale.fromArray(scale);
      mesh.visible = visible;
    }
    for (const overlay of Object.values(overlays)) this.draw(overlay);
    this.stage.touch();
  }

  load(id, uri) {
    this.meshes.get(id)?.removeFromParent();
    const group = new THREE.Group();
    this.meshes.set(id, group);
    this.group.add(group);
    this.bodies.loadModel(uri).then((model) => {
      model.traverse((mesh) => (mesh.castShadow = mesh.receiveShadow = Boolean(mesh.isMesh)));
      group.add(model);
      this.stage.touch();
    }).catch(() => {}); // an unreadable model is not shown
  }

  draw({ overlay_id: id, points, point_size: size, visible }) {
    this.clouds.get(id)?.removeFromParent();
    const positions = new THREE.Float32BufferAttribute(points.flat(), 3);
    const color = COLORS[[...id].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % COLORS.length];
    const cloud = new THREE.Points(new THREE.BufferGeometry().setAttribute('position', positions), new THREE.PointsMaterial({ color, size }));
    cloud.visible = visible;
    cloud.frustumCulled = false;
    this.clouds.set(id, cloud);
    this.group.add(cloud);
  }
}
