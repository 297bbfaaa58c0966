// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Keys and a stick that drive a mobile robot. What is not repeated ends: a lost page stops it.

import { toast } from '../panels/dom.js';

const PERIOD = 60; // ms
const DEAD = 0.15; // of a gamepad's stick
const GENTLE = 0.6; // of the robot's limits
const KEYS = {
  KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0],
  KeyA: [0, 0, 1], ArrowLeft: [0, 0, 1], KeyD: [0, 0, -1], ArrowRight: [0, 0, -1],
  KeyQ: [0, 1, 0], KeyE: [0, -1, 0],
};

export class Driving extends EventTarget {
  // Events: change (a robot is driven, or none is).
  constructor(app) {
    super();
    this.app = app;
    this.down = new Set();
    this.lean = [0, 0, 0];
    this.stick = document.getElementById('stick');
    addEventListener('keydown', (event) => this.key(event, true));
    addEventListener('keyup', (event) => this.key(event, false));
    addEventListener('blur', () => this.release());
    document.addEventListener('visibilitychange', () => document.hidden && this.release());
    this.listenToStick();
    this.pad = [0, 0, 0];
    setInterval(() => {
      this.readGamepad();
      this.send();
    }, PERIOD);
  }

  setWorld(world) {
    this.release();
    this.world = world;
    this.robots = world.robots.filter(({ drive }) => drive);
    this.showStick(!this.stick.hidden && this.robots.length > 0);
  }

  // The robot of what is selected, else the only one that drives.
  get robot() {
    const prefix = this.selectedRobot;
    if (prefix) return this.robots?.find((one) => one.prefix === prefix) ?? null;
    return this.robots?.length === 1 ? this.robots[0] : null;
  }

  get selectedRobot() {
    const body = this.app.selected;
    return body > 0 ? this.world?.bodies[body].robot : '';
  }

  // Why nothing would move, '' when something does.
  get obstacle() {
    const { history, transport } = this.app;
    if (history.isBack) return 'This is the past: K returns to the present';
    if (!this.robot) {
      if (this.selectedRobot) return `${this.selectedRobot} cannot drive`;
      return this.robots?.length ? `Select the robot to drive: ${this.robots.map(({ prefix }) => prefix).join(', ')}` : 'No robot here can drive';
    }
    const status = transport.status ?? {};
    if (status.mode && status.mode !== 'live') return `Nothing moves in ${status.mode} mode`;
    return status.paused ? 'The simulation is paused: Space resumes it' : '';
  }

  // Say once for each press why nothing moves; return whether something would.
  isFree() {
    const { obstacle } = this;
    if (obstacle && obstacle !== this.said) toast(obstacle, true);
    this.said = obstacle;
    return !obstacle;
  }

  key(event, is) {
    if (!(event.code in KEYS)) return;
    if (is && (event.ctrlKey || event.metaKey || event.altKey || isTyping(event))) return;
    if (is && !event.repeat) this.said = '';
    if (is && !this.isFree()) return;
    if (is) {
      this.down.add(event.code);
      event.preventDefault();
    } else this.down.delete(event.code);
    this.keyFast = this.fast = event.shiftKey;
    if (!event.repeat) this.send(true);
  }

  // The left stick drives, sideways where the robot can; the right one turns. A robot that cannot drive
  // has its tip moved.
  readGamepad() {
    const [pad] = (navigator.getGamepads?.() ?? []).filter((one) => one?.mapping === 'standard');
    const [x, y, turn, lift] = (pad?.axes ?? [0, 0, 0, 0]).map((part) => (Math.abs(part) < DEAD ? 0 : part));
    const isDriving = Boolean(this.robot) && !document.hidden && document.hasFocus();
    const canSlide = this.robot?.drive.lateral > 0;
    const pushed = [-y, canSlide ? -x : 0, canSlide ? -turn : -x - turn].map((part) => part || 0);
    const was = this.pad.some(Boolean), is = isDriving && pushed.some(Boolean);
    if (is && !was) this.said = '';
    this.pad = is ? pushed : [0, 0, 0];
    if (was && !is) this.send(true);
    this.fast = this.keyFast || Boolean(pad?.buttons[5]?.pressed);
    if (!this.robot && !document.hidden) this.app.hands.moveTip([x, -lift, y], PERIOD / 1000);
  }

  release() {
    this.down.clear();
    this.lean = [0, 0, 0];
    this.send(true);
  }

  get wish() {
    const sum = this.lean.map((part, axis) => part + this.pad[axis]);
    for (const code of this.down) KEYS[code].forEach((part, axis) => (sum[axis] += part));
    return sum.map((part) => Math.max(-1, Math.min(1, part)));
  }

  send(soon = false) {
    const { robot, wish } = this;
    const moves = wish.some(Boolean) && this.isFree();
    if (!robot || (!moves && !this.moved) || (!soon && !moves)) return;
    const share = this.fast ? 1 : GENTLE;
    const { linear, lateral, angular } = robot.drive;
    // Backwards a car turns the other way than a stick leans.
    const twist = [wish[0] * linear, wish[1] * lateral, wish[2] * angular].map((part) => part * share);
    this.app.connection.tell('drive', { robot: robot.prefix, twist });
    if (this.moved !== moves) {
      this.moved = moves;
      this.dispatchEvent(new Event('change'));
    }
  }

  showStick(is) {
    this.stick.hidden = !is;
  }

  listenToStick() {
    const knob = this.stick.firstElementChild;
    const lead = (event) => {
      if (event.type === 'pointerdown') this.said = '';
      const box = this.stick.getBoundingClientRect();
      let x = ((event.clientX - box.left) / box.width) * 2 - 1, y = ((event.clientY - box.top) / box.height) * 2 - 1;
      const length = Math.max(1, Math.hypot(x, y));
      x /= length;
      y /= length;
      knob.style.transform = `translate(${x * 34}px, ${y * 34}px)`;
      const dead = (part) => (Math.abs(part) < 0.12 ? 0 : part);
      this.lean = [dead(-y), 0, dead(-x)];
      this.send();
    };
    this.stick.addEventListener('pointerdown', (event) => {
      this.stick.setPointerCapture(event.pointerId);
      lead(event);
    });
    this.stick.addEventListener('pointermove', (event) => event.buttons && lead(event));
    for (const name of ['pointerup', 'pointercancel']) {
      this.stick.addEventListener(name, () => {
        knob.style.transform = '';
        this.release();
      });
    }
  }
}

export function isTyping(event) {
  return event.target instanceof Element && Boolean(event.target.closest('input:not([type=checkbox]):not([type=range]), select, textarea, dialog[open]'));
}
