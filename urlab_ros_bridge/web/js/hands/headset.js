// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Virtual and augmented reality: controllers are the protocol's xr_input, contacts are felt.

import * as THREE from '../../vendor/three/build/three.module.js';
import { button, toast } from '../panels/dom.js';

const PERIOD = 1000 / 30; // ms between two inputs
const NEAREST = 0.7, FARTHEST = 2.5; // m between one who enters and what was looked at
const NEAR = 0.16; // m; a contact so near to a tip is felt by the hand that leads it

export class Headset {
  constructor(app) {
    this.app = app;
    this.sent = 0;
    this.hands = [];
    this.buttons = [];
    this.floor = new THREE.Group();
    this.offer();
    app.stage.renderer.xr.addEventListener('sessionend', () => this.leave());
    app.stage.drawers.push((seconds, time, frame) => this.update(time, frame));
    app.connection.addEventListener('contacts', ({ detail }) => this.feel(detail));
  }

  async offer() {
    for (const [mode, name, title] of [['immersive-vr', 'headset', 'Enter VR'], ['immersive-ar', 'ar', 'Enter AR']]) {
      const is = await navigator.xr?.isSessionSupported(mode).catch(() => false);
      if (is) {
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
      this.stand();
      await stage.renderer.xr.setSession(this.session);
      this.showHands();
      connection.mode = this.app.world?.name ?? '';
      connection.hello('vr_client');
      connection.ask('contacts', { on: true }).catch(() => {});
    } catch (error) {
      this.session?.end().catch(() => {});
      toast(`${mode === 'immersive-vr' ? 'VR' : 'AR'} is not available: ${error.message}`, true);
    }
  }

  // One stands where one looked from, and not where the robot is: the floor of the headset, on
  // which all its poses are, is laid there.
  stand() {
    const { camera, scene } = this.app.stage;
    const { target } = this.app.views.controls;
    this.before = { position: camera.position.clone(), quaternion: camera.quaternion.clone() };
    const way = target.clone().sub(camera.position).setY(0);
    if (way.lengthSq() < 1e-6) way.set(0, 0, -1);
    way.setLength(Math.min(Math.max(way.length(), NEAREST), FARTHEST));
    this.floor.position.set(target.x - way.x, 0, target.z - way.z);
    this.floor.rotation.y = Math.atan2(-way.x, -way.z);
    this.floor.add(camera);
    scene.add(this.floor);
    this.floor.updateMatrixWorld(true);
  }

  leave() {
    const { stage, connection } = this.app;
    this.session = null;
    stage.dome.visible = true;
    stage.scene.fog = this.fog;
    for (const hand of this.hands) hand.clear().removeFromParent();
    this.hands = [];
    this.floor.remove(stage.camera);
    this.floor.removeFromParent();
    stage.camera.position.copy(this.before.position);
    stage.camera.quaternion.copy(this.before.quaternion);
    connection.hello('spectator');
    stage.fit();
  }

  showHands() {
    const { renderer } = this.app.stage;
    this.hands = [0, 1].map((index) => {
      const grip = renderer.xr.getControllerGrip(index);
      grip.add(new THREE.Mesh(new THREE.CapsuleGeometry(0.018, 0.07, 6, 16).rotateX(-0.9), this.app.stage.paint({ color: '#20262d', roughness: 0.5 })));
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
      if (pose) controllers[source.handedness] = read(source, pose, this.floor);
    }
    if (!head || !Object.keys(controllers).length) return;
    this.sent = time;
    this.app.connection.say('xr_input', { timestamp: time / 1000, head_pose: placed(head, this.floor), controllers });
  }

  // The arms of a user are given out left, right, as the tips stand in the world.
  feel(rows) {
    if (!this.session) return;
    const { bodies, world } = this.app;
    const sides = ['left', 'right'];
    world.tips.slice(0, 2).forEach(({ body, offset }, index) => {
      const tip = bodies.at(body, offset);
      let strongest = 0;
      for (let start = 0; start < rows.length; start += 6) {
        const away = Math.hypot(rows[start] - tip.x, rows[start + 1] - tip.y, rows[start + 2] - tip.z);
        if (away < NEAR) strongest = Math.max(strongest, Math.hypot(rows[start + 3], rows[start + 4], rows[start + 5]));
      }
      const source = [...this.session.inputSources].find(({ handedness }) => handedness === sides[index]);
      const actuator = source?.gamepad?.hapticActuators?.[0];
      if (strongest > 0.05) actuator?.pulse(Math.min(1, 0.15 + strongest / 40), 80);
    });
  }
}

// A pose on the floor of the headset, in the world.
function placed({ position, orientation }, floor) {
  const at = new THREE.Vector3().copy(position).applyMatrix4(floor.matrixWorld);
  const turn = new THREE.Quaternion().copy(orientation).premultiply(floor.quaternion);
  return { translation: at.toArray(), rotation_xyzw: turn.toArray() };
}

function read(source, pose, floor) {
  const { buttons = [], axes = [] } = source.gamepad ?? {};
  const vector = (speed) => (speed ? new THREE.Vector3().copy(speed).applyQuaternion(floor.quaternion).toArray() : [0, 0, 0]);
  const pressed = (index) => Boolean(buttons[index]?.pressed);
  return {
    pose: placed(pose.transform, floor),
    velocity: { linear: vector(pose.linearVelocity), angular: vector(pose.angularVelocity) },
    trigger: buttons[0]?.value ?? 0,
    grip: buttons[1]?.value ?? 0,
    joystick: [axes[2] ?? 0, axes[3] ?? 0],
    buttons: { trigger_click: pressed(0), grip_click: pressed(1), primary: pressed(4), secondary: pressed(5) },
  };
}
