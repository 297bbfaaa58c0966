// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// A timeline of the last minutes of poses and channels, kept in the page: looking back does not affect the simulation.

import { button, el } from './dom.js';

const SECONDS = 120, STEP = 1 / 30; // s of simulated time

export class History {
  constructor(app) {
    this.app = app;
    this.frames = [];
    this.bar = document.getElementById('timeline');
    this.at = null; // index of the frame shown; null: the newest
  }

  setWorld() {
    this.frames = [];
    this.live();
  }

  push(time, poses, order, values) {
    const last = this.frames.at(-1);
    if (last && time < last.time) {
      this.frames = []; // a reset
      this.live();
    } else if (last && time - last.time < STEP) return;
    this.frames.push({ time, poses: poses.slice(), order, values: values.slice() });
    while (this.frames.length > 2 && this.frames[0].time < time - SECONDS) {
      this.frames.shift();
      if (this.at > 0) this.at -= 1;
    }
    if (!this.bar.hidden && this.isShown) this.draw();
  }

  // The values of a channel at each frame since a time (s): arrays of its width, null where it was not watched.
  values(id, since) {
    const frames = this.frames.filter(({ time }) => time >= since);
    return frames.map(({ order, values }) => {
      let start = 0;
      for (const channel of order) {
        if (channel.id === id) return start + channel.width <= values.length ? values.subarray(start, start + channel.width) : null;
        start += channel.width;
      }
      return null;
    });
  }

  get isBack() {
    return this.at !== null;
  }

  toggle() {
    if (this.isShown) {
      this.isShown = false;
      this.bar.hidden = true;
      this.live();
      return;
    }
    if (this.isBlocked || this.frames.length < 2) return;
    this.isShown = true;
    this.slider = el('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Time', oninput: () => this.showFrame(Number(this.slider.value)) });
    this.when = el('span.when');
    this.now = button('', 'Back to now', () => this.live(), { text: 'Now', shape: 'button.btn.small' });
    this.bar.replaceChildren(el('span.what', 'Look back'), this.slider, this.when, this.now, button('close', 'Close the timeline', () => this.toggle(), { shape: 'button.btn.small' }));
    this.bar.hidden = false;
    this.draw();
  }

  // Hidden while a replay uses the bar.
  setBlocked(isBlocked) {
    this.isBlocked = isBlocked;
    if (isBlocked) {
      this.isShown = false;
      this.live();
    }
  }

  showFrame(index) {
    this.at = index >= this.frames.length - 1 ? null : index;
    const frame = this.frames[Math.min(index, this.frames.length - 1)];
    if (frame) this.app.bodies.setPoses(frame.poses);
    document.body.classList.toggle('back', this.isBack);
    this.draw();
  }

  live() {
    this.at = null;
    document.body.classList.remove('back');
    if (this.isShown) this.draw();
  }

  draw() {
    const end = this.frames.length - 1;
    this.slider.max = end;
    this.slider.value = this.at ?? end;
    const ago = this.frames[end].time - this.frames[this.at ?? end].time;
    this.when.textContent = this.isBack ? `−${ago.toFixed(1)} s` : 'now';
    this.now.disabled = !this.isBack;
  }
}
