// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Virtual and augmented reality: sends controllers as xr_input, and vibrates on contacts.

import * as THREE from '../../vendor/three/build/three.module.js';
import { button, toast } from '../panels/dom.js';

const PERIOD = 1000 / 30; // ms between xr_input messages
const MIN_DISTANCE = 0.7, MAX_DISTANCE = 2.5; // m between the user on entering and the point in view before
const VIBRATION_DISTANCE = 0.16; // m; contacts this close to a tip vibrate its controller

export class Headset {
  constructor(app) {
    this.app = app;
    this.sent = 0;
    this.grips = [];
    this.buttons = [];
    this.floor = new THREE.Group();
    this.addButtons();
    app.stage.renderer.xr.addEventListener('sessionend', () => this.leave());
    app.stage.beforeFrame.push((seconds, time, frame) => this.update(time, frame));
    app.connection.addEventListener('contacts', ({ detail }) => this.vibrate(detail));
  }

  async addButtons() {
    for (const [mode, name, title] of [['immersive-vr', 'headset', 'Enter VR'], ['immersive-ar', 'ar', 'Enter AR']]) {
      const isSupported = await navigator.xr?.isSessionSupported(mode).catch(() => false);
      if (isSupported) {
        const entry = button(name, title, () => this.enter(mode));
        document.getElementById('actions').prepend(entry);
        this.buttons.push(entry);
      }
    }
  }

  async enter(mode) {
    const { stage, connection } = this.app;
    try {
      this.session = await navigator.xr.requestSession(mode, { requiredFeatures: ['local-floor'], optionalFeatures: ['hand-tracking'] });
      stage.dome.visible = mode === 'immersive-vr';
      this.fog = stage.scene.fog;
      if (mode === 'immersive-ar') stage.scene.fog = null;
      this.placeFloor();
      await stage.renderer.xr.setSession(this.session);
      this.showGrips();
      connection.mode = this.app.world?.name ?? '';
      connection.hello('vr_client');
      connection.request('contacts', { on: true }).catch(() => {});
    } catch (error) {
      this.session?.end().catch(() => {});
      toast(`${mode === 'immersive-vr' ? 'VR' : 'AR'} is not available: ${error.message}`, true);
    }
  }

  // Move the floor of the headset, the frame of all its poses, to where the view was: the user then
  // stands there, and not inside the robot.
  placeFloor() {
    const { camera, scene } = this.app.stage;
    const { target } = this.app.views.controls;
    this.savedCamera = { position: camera.position.clone(), quaternion: camera.quaternion.clone() };
    const direction = target.clone().sub(camera.position).setY(0);
    if (direction.lengthSq() < 1e-6) direction.set(0, 0, -1);
    direction.setLength(Math.min(Math.max(direction.length(), MIN_DISTANCE), MAX_DISTANCE));
    this.floor.position.set(target.x - direction.x, 0, target.z - direction.z);
    this.floor.rotation.y = Math.atan2(-direction.x, -direction.z);
    this.floor.add(camera);
    scene.add(this.floor);
    this.floor.updateMatrixWorld(true);
  }

  leave() {
    const { stage, connection } = this.app;
    this.session = null;
    stage.dome.visible = true;
    stage.scene.fog = this.fog;
    for (const grip of this.grips) grip.clear().removeFromParent();
    this.grips = [];
    this.floor.remove(stage.camera);
    this.floor.removeFromParent();
    stage.camera.position.copy(this.savedCamera.position);
    stage.camera.quaternion.copy(this.savedCamera.quaternion);
    connection.hello('spectator');
    stage.fit();
  }

  showGrips() {
    const { renderer } = this.app.stage;
    this.grips = [0, 1].map((index) => {
      const grip = renderer.xr.getControllerGrip(index);
      grip.add(new THREE.Mesh(new THREE.CapsuleGeometry(0.018, 0.07, 6, 16).rotateX(-0.9), this.app.stage.makeMaterial({ color: '#20262d', roughness: 0.5 })));
      const tip = new THREE.Mesh(new THREE.SphereGeometry(0.008, 16, 12), new THREE.MeshBasicMaterial({ color: '#12b5a6' }));
      tip.position.z = -0.06;
      grip.add(tip);
      this.floor.add(grip);
      return grip;
    });
  }

  update(time, frame) {
    if (!this.session || !frame || time - this.sent < PERIOD) return;
    const space = this.app.stage.renderer.xr.getReferenceSpace();
    const head = frame.getViewerPose(space)?.transform;
    const controllers = {};
    for (const source of this.session.inputSources) {
      if (!source.gripSpace || !['left', 'right'].includes(source.handedness)) continue;
      const pose = frame.getPose(source.gripSpace, space);
      if (pose) controllers[source.handedness] = readController(source, pose, this.floor);
    }
    if (!head || !Object.keys(controllers).length) return;
    this.sent = time;
    this.app.connection.sendProtocol('xr_input', { timestamp: time / 1000, head_pose: toWorld(head, this.floor), controllers });
  }

  // A user's arms are assigned left, right, in the order of the tips.
  vibrate(rows) {
    if (!this.session) return;
    const { bodies, world } = this.app;
    const sides = ['left', 'right'];
    world.tips.slice(0, 2).forEach(({ body, offset }, index) => {
      const tip = bodies.worldPoint(body, offset);
      let strongest = 0;
      for (let start = 0; start < rows.length; start += 6) {
        const distance = Math.hypot(rows[start] - tip.x, rows[start + 1] - tip.y, rows[start + 2] - tip.z);
        if (distance < VIBRATION_DISTANCE) strongest = Math.max(strongest, Math.hypot(rows[start + 3], rows[start + 4], rows[start + 5]));
      }
      const source = [...this.session.inputSources].find(({ handedness }) => handedness === sides[index]);
      const actuator = source?.gamepad?.hapticActuators?.[0];
      if (strongest > 0.05) actuator?.pulse(Math.min(1, 0.15 + strongest / 40), 80);
    });
  }
}

// A pose from the floor of the headset to the world frame.
function toWorld({ position, orientation }, floor) {
  const at = new THREE.Vector3().copy(position).applyMatrix4(floor.matrixWorld);
  const rotation = new THREE.Quaternion().copy(orientation).premultiply(floor.quaternion);
  return { translation: at.toArray(), rotation_xyzw: rotation.toArray() };
}

function readController(source, pose, floor) {
  const { buttons = [], axes = [] } = source.gamepad ?? {};
  const vector = (speed) => (speed ? new THREE.Vector3().copy(speed).applyQuaternion(floor.quaternion).toArray() : [0, 0, 0]);
  const pressed = (index) => Boolean(buttons[index]?.pressed);
  return {
    pose: toWorld(pose.transform, floor),
    velocity: { linear: vector(pose.linearVelocity), angular: vector(pose.angularVelocity) },
    trigger: buttons[0]?.value ?? 0,
    grip: buttons[1]?.value ?? 0,
    joystick: [axes[2] ?? 0, axes[3] ?? 0],
    buttons: { trigger_click: pressed(0), grip_click: pressed(1), primary: pressed(4), secondary: pressed(5) },
  };
}
