// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Driving a mobile robot with keys, on-screen stick or gamepad. Commands are repeated: a robot stops if its page is lost.

import { toast } from '../panels/dom.js';

const PERIOD = 60; // ms
const DEAD_ZONE = 0.15; // of a gamepad stick
const DEFAULT_SPEED = 0.6; // share of the robot's limits
const KEYS = {
  KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0],
  KeyA: [0, 0, 1], ArrowLeft: [0, 0, 1], KeyD: [0, 0, -1], ArrowRight: [0, 0, -1],
  KeyQ: [0, 1, 0], KeyE: [0, -1, 0],
};

export class Driving extends EventTarget {
  // Events: change (driving has started or ended).
  constructor(app) {
    super();
    this.app = app;
    this.pressedKeys = new Set();
    this.stickInput = [0, 0, 0];
    this.stick = document.getElementById('stick');
    addEventListener('keydown', (event) => this.key(event, true));
    addEventListener('keyup', (event) => this.key(event, false));
    addEventListener('blur', () => this.release());
    document.addEventListener('visibilitychange', () => document.hidden && this.release());
    this.bindStick();
    this.gamepadInput = [0, 0, 0];
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

  // The selected robot, else the only one that can drive.
  get robot() {
    const prefix = this.selectedRobot;
    if (prefix) return this.robots?.find((one) => one.prefix === prefix) ?? null;
    return this.robots?.length === 1 ? this.robots[0] : null;
  }

  get selectedRobot() {
    const body = this.app.selected;
    return body > 0 ? this.world?.bodies[body].robot : '';
  }

  // Why no robot is chosen; '' if one is.
  get missingRobot() {
    if (this.robot) return '';
    if (this.selectedRobot) return `${this.selectedRobot} cannot drive`;
    return this.robots?.length ? `Select the robot to drive: ${this.robots.map(({ prefix }) => prefix).join(', ')}` : 'No robot here can drive';
  }

  // Why a command would have no effect; '' if it would.
  get blockedReason() {
    const { eStop, history, transport } = this.app;
    if (eStop.engaged) return 'The e-stop is engaged';
    if (history.isBack) return 'This is the past: K returns to the present';
    if (this.missingRobot) return this.missingRobot;
    const status = transport.status ?? {};
    if (status.mode && status.mode !== 'live') return `Nothing moves in ${status.mode} mode`;
    return status.paused ? 'The simulation is paused: Space resumes it' : '';
  }

  // Whether a command would have an effect; if not, say why once per key press.
  checkCanMove() {
    const { blockedReason } = this;
    if (blockedReason && blockedReason !== this.reported) toast(blockedReason, true);
    this.reported = blockedReason;
    return !blockedReason;
  }

  key(event, isDown) {
    if (!(event.code in KEYS)) return;
    if (isDown && (event.ctrlKey || event.metaKey || event.altKey || isTyping(event))) return;
    if (isDown && !event.repeat) this.reported = '';
    if (isDown && !this.checkCanMove()) return;
    if (isDown) {
      this.pressedKeys.add(event.code);
      event.preventDefault();
    } else this.pressedKeys.delete(event.code);
    this.isShiftDown = this.isFast = event.shiftKey;
    if (!event.repeat) this.send(true);
  }

  // The left stick drives, sideways if the robot can; the right one turns. If no robot can drive, the
  // sticks move a tip.
  readGamepad() {
    const [pad] = (navigator.getGamepads?.() ?? []).filter((one) => one?.mapping === 'standard');
    const [x, y, turn, lift] = (pad?.axes ?? [0, 0, 0, 0]).map((part) => (Math.abs(part) < DEAD_ZONE ? 0 : part));
    const isDriving = Boolean(this.robot) && !document.hidden && document.hasFocus();
    const canSlide = this.robot?.drive.lateral > 0;
    const pushed = [-y, canSlide ? -x : 0, canSlide ? -turn : -x - turn].map((part) => part || 0);
    const wasActive = this.gamepadInput.some(Boolean), isActive = isDriving && pushed.some(Boolean);
    if (isActive && !wasActive) this.reported = '';
    this.gamepadInput = isActive ? pushed : [0, 0, 0];
    if (wasActive && !isActive) this.send(true);
    this.isFast = this.isShiftDown || Boolean(pad?.buttons[5]?.pressed);
    if (!this.robot && !document.hidden) this.app.pointer.moveTip([x, -lift, y], PERIOD / 1000);
  }

  release() {
    this.pressedKeys.clear();
    this.stickInput = [0, 0, 0];
    this.send(true);
  }

  get command() {
    const sum = this.stickInput.map((part, axis) => part + this.gamepadInput[axis]);
    for (const code of this.pressedKeys) KEYS[code].forEach((part, axis) => (sum[axis] += part));
    return sum.map((part) => Math.max(-1, Math.min(1, part)));
  }

  send(isChange = false) {
    const { robot, command } = this;
    const moves = command.some(Boolean) && this.checkCanMove();
    if (!robot || (!moves && !this.moved) || (!isChange && !moves)) return;
    const share = this.isFast ? 1 : DEFAULT_SPEED;
    const { linear, lateral, angular } = robot.drive;
    const twist = [command[0] * linear, command[1] * lateral, command[2] * angular].map((part) => part * share);
    this.app.connection.send('drive', { robot: robot.prefix, twist });
    if (this.moved !== moves) {
      this.moved = moves;
      this.dispatchEvent(new Event('change'));
    }
  }

  showStick(visible) {
    this.stick.hidden = !visible;
  }

  bindStick() {
    const knob = this.stick.firstElementChild;
    const moveStick = (event) => {
      if (event.type === 'pointerdown') this.reported = '';
      const box = this.stick.getBoundingClientRect();
      let x = ((event.clientX - box.left) / box.width) * 2 - 1, y = ((event.clientY - box.top) / box.height) * 2 - 1;
      const length = Math.max(1, Math.hypot(x, y));
      x /= length;
      y /= length;
      knob.style.transform = `translate(${x * 34}px, ${y * 34}px)`;
      const withDeadZone = (part) => (Math.abs(part) < 0.12 ? 0 : part);
      this.stickInput = [withDeadZone(-y), 0, withDeadZone(-x)];
      this.send();
    };
    this.stick.addEventListener('pointerdown', (event) => {
      this.stick.setPointerCapture(event.pointerId);
      moveStick(event);
    });
    this.stick.addEventListener('pointermove', (event) => event.buttons && moveStick(event));
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
