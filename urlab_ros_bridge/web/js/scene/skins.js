// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Skins that several bodies bend: their groups are the bones.

import * as THREE from '../../vendor/three/build/three.module.js';

const TINT = [0.3, 1.5, 1.4]; // times the colour, where the selected body moves a skin
const WHOLLY = new THREE.Matrix4();

// The meshes of a model of glTF, bent by these groups.
export function bend(model, groups, bodies) {
  const found = [];
  model.traverse((mesh) => mesh.isSkinnedMesh && found.push(mesh));
  for (const mesh of found) {
    const skeleton = new THREE.Skeleton(bodies.map((body) => groups[body]), mesh.skeleton.boneInverses);
    mesh.removeFromParent();
    mesh.bind(skeleton, WHOLLY);
    mesh.frustumCulled = false; // it is not where its own shape is
    mesh.userData.bones = bodies;
    mesh.castShadow = mesh.receiveShadow = true;
  }
  return found;
}

// The body that moves a vertex most.
export function bodyAt(mesh, vertex) {
  const { skinIndex, skinWeight } = mesh.geometry.attributes;
  let best = 0;
  for (let part = 1; part < 4; part += 1) if (skinWeight.getComponent(vertex, part) > skinWeight.getComponent(vertex, best)) best = part;
  return mesh.userData.bones[skinIndex.getComponent(vertex, best)];
}

// The box around what these bodies move most.
export function boxOf(mesh, bodies) {
  const box = new THREE.Box3(), at = new THREE.Vector3(), wanted = new Set(bodies);
  if (!mesh.userData.bones.some((body) => wanted.has(body))) return box;
  for (let vertex = 0; vertex < mesh.geometry.attributes.position.count; vertex += 1) {
    if (wanted.has(bodyAt(mesh, vertex))) box.expandByPoint(mesh.getVertexPosition(vertex, at));
  }
  return box;
}

// Colours that show which part of a skin a body moves, null when it moves none.
export function tintOf(mesh, body) {
  const bone = mesh.userData.bones.indexOf(body);
  if (bone < 0) return null;
  const { skinIndex, skinWeight, position } = mesh.geometry.attributes;
  const colors = new Float32Array(position.count * 3);
  for (let vertex = 0; vertex < position.count; vertex += 1) {
    let share = 0;
    for (let part = 0; part < 4; part += 1) if (skinIndex.getComponent(vertex, part) === bone) share += skinWeight.getComponent(vertex, part);
    for (let part = 0; part < 3; part += 1) colors[vertex * 3 + part] = 1 + share * (TINT[part] - 1);
  }
  return new THREE.BufferAttribute(colors, 3);
}
