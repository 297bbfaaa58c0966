// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Goals and initial poses for Nav2, which a ROS bridge publishes: a click for the place, then a click or a drag for the heading.

import { button, isPhone, menu, toast } from '../panels/dom.js';
import { makeArrow } from './mouse.js';

const ARROW_SIZE = 0.5; // times that of a push, for each metre from the camera
const MIN_LENGTH = 0.12; // likewise, m
const SHOWN = 5000; // ms that the arrow of a request stays

export class Navigation {
  constructor(app) {
    this.app = app;
    this.button = button('flag', 'Nav2 goal or initial pose', () => this.choose(), { text: 'Navigate' });
    this.button.id = 'navigate';
    this.arrow = makeArrow('#7c3aed');
    app.stage.scene.add(this.arrow);
    app.pointer.addEventListener('aim', ({ detail }) => this.aim(detail));
    app.connection.addEventListener('update', ({ detail }) => detail.type === 'status' && this.showAvailability());
  }

  // Why nothing can be set; '' if it can.
  get blockedReason() {
    const { driving, transport } = this.app;
    if (document.body.classList.contains('view-only')) return 'This page only watches';
    if (!transport.status?.bridge) return 'No ROS bridge is connected, which would publish it: start urlab bridge';
    return driving.missingRobot;
  }

  showAvailability() {
    const { blockedReason } = this;
    this.button.setAttribute('aria-disabled', Boolean(blockedReason));
    this.button.title = blockedReason || 'Nav2 goal (N) or initial pose (I)';
  }

  choose() {
    if (this.app.pointer.tool === 'aim') this.app.setTool('select');
    else if (this.checkAvailable()) menu(this.button, [
      { label: 'Nav2 goal', note: isPhone() ? '' : 'N', icon: 'flag', run: () => this.start('goal') },
      { label: 'Initial pose', note: isPhone() ? '' : 'I', icon: 'follow', run: () => this.start('initial_pose') },
    ]);
  }

  checkAvailable() {
    const { blockedReason } = this;
    if (blockedReason) toast(blockedReason, true);
    return !blockedReason;
  }

  // The next two clicks, or a drag, say where.
  start(kind) {
    if (!this.checkAvailable()) return;
    this.app.setTool('aim');
    this.target = { kind, robot: this.app.driving.robot.prefix };
    const [click, end] = isPhone() ? ['Tap', ''] : ['Click', '; Esc cancels'];
    this.app.setHint(`${click} where ${this.target.robot} ${kind === 'goal' ? 'goes' : 'is'}, then where it faces${end}`);
  }

  aim({ point, goal, isDone }) {
    const heading = goal.clone().sub(point).setY(0);
    if (!heading.lengthSq()) heading.setX(1e-3);
    const distance = this.app.stage.camera.position.distanceTo(point), size = ARROW_SIZE * distance;
    this.arrow.scale.setScalar(size);
    this.arrow.point(point, heading.setLength(Math.max(heading.length(), MIN_LENGTH * distance) / size));
    if (isDone) this.send(point, Math.atan2(-heading.z, heading.x));
    this.arrow.visible = true;
    this.app.stage.touch();
  }

  send(point, yaw) {
    const { target } = this;
    this.app.setTool('select');
    this.timer = setTimeout(() => this.hide(), SHOWN);
    this.app.connection.request('navigate', { ...target, position: point.toArray(), yaw })
      .then(() => toast(target.kind === 'goal' ? `${target.robot} has a new goal` : `Initial pose of ${target.robot} set`))
      .catch((error) => (this.hide(), toast(error.message, true)));
  }

  hide() {
    clearTimeout(this.timer);
    this.arrow.visible = false;
    this.app.stage.touch();
  }
}
