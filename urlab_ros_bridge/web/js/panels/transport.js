// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The transport bar: run, pause, step, speed, reset, record; and the status of the simulation.

import { button, el, icon, menu, toast } from './dom.js';

const SPEEDS = [5, 10, 25, 50, 100];
const STEPS = 10;
const READABLE = 100; // ms between updates of the time: each costs a layout and a paint

export class Transport {
  constructor(app) {
    this.app = app;
    this.status = null;
    const { connection } = app;
    this.run = button('pause', 'Pause', () => this.toggleRun(), { key: 'Space', shape: 'button.btn.primary' });
    this.run.id = 'run';
    this.step = button('step', 'Step', () => this.advance(), { key: '.' });
    this.step.id = 'step';
    this.reset = button('reset', 'Reset', () => this.resetWorld(), { key: 'R' });
    this.reset.id = 'reset';
    this.keyframes = button('chevron', 'Reset to a keyframe', () => this.chooseKeyframe(), { shape: 'button.btn.small.wide' });
    this.speed = button('', 'Speed', () => this.chooseSpeed(), { text: '100 %', shape: 'button.btn.wide' });
    this.record = button('record', 'Record', () => this.toggleRecording(), { shape: 'button.btn' });
    this.record.id = 'record';
    this.modes = ['live', 'direct'].map((mode) =>
      el('button.btn', { type: 'button', title: mode === 'live' ? 'Live: runs in real time' : 'Direct: advances only when stepped', onclick: () => this.perform('mode', { mode }) }, mode === 'live' ? 'Live' : 'Direct'));
    this.more = button('chevron', 'Speed, mode and keyframes', () => this.chooseFromAll(), { shape: 'button.btn.narrow' });
    document.getElementById('transport').append(
      this.run, this.step, this.reset, this.more, this.keyframes, el('span.rule.wide'), this.speed, this.record, el('span.rule.wide'), el('span.seg.wide', { role: 'group', 'aria-label': 'Mode' }, ...this.modes));
    this.time = fact('time');
    this.latest = 0;
    this.timer = 0;
    this.factor = fact('speed');
    this.rate = fact('rate', 'minor');
    this.unstable = el('div.fact.bad', { hidden: true }, el('b', 'unstable'));
    this.unstable.id = 'unstable';
    this.reported = 0; // divergences already shown in a message
    this.link = el('span.dot', { title: 'Not connected' });
    document.getElementById('facts').append(this.unstable, this.rate, this.factor, this.time, this.link);
    connection.addEventListener('update', ({ detail }) => detail.type === 'status' && this.update(detail));
    connection.addEventListener('status', ({ detail }) => this.connected(detail === 'open'));
    this.connected(false);
  }

  connected(isOpen) {
    this.link.classList.toggle('live', isOpen);
    this.link.title = isOpen ? 'Connected' : 'Not connected';
    for (const part of [this.run, this.step, this.reset, this.more, this.keyframes, this.speed, this.record, ...this.modes]) part.disabled = !isOpen;
    if (isOpen) return;
    this.status = null;
    this.unstable.hidden = true;
    for (const part of [this.factor, this.rate]) part.lastChild.textContent = '–';
  }

  update(status) {
    const isFirst = !this.status;
    this.status = status;
    if (isFirst) this.app.recordings.refresh();
    const isRunning = status.mode === 'live' && !status.paused;
    this.run.replaceChildren(icon(isRunning ? 'pause' : 'play'));
    this.run.title = isRunning ? 'Pause (Space)' : 'Run (Space)';
    this.run.setAttribute('aria-label', isRunning ? 'Pause' : 'Run');
    this.run.dataset.state = isRunning ? 'running' : 'paused';
    for (const [index, mode] of ['live', 'direct'].entries()) {
      this.modes[index].setAttribute('aria-pressed', status.mode === mode);
      this.modes[index].disabled = status.pinned && status.mode !== mode;
    }
    this.speed.textContent = `${Math.round(status.speed || 100)} %`;
    this.speed.hidden = status.mode !== 'live';
    const target = (status.speed || 100) / 100;
    this.factor.lastChild.textContent = isRunning ? `${status.real_time_factor.toFixed(2)}×` : status.paused ? 'paused' : status.mode;
    this.factor.classList.toggle('slow', isRunning && status.real_time_factor < 0.9 * target);
    this.rate.firstChild.textContent = 'physics';
    this.rate.lastChild.textContent = isRunning ? `${Math.round(status.tick_rate)} Hz` : '–';
    const active = Boolean(status.recording?.active);
    this.record.replaceChildren(icon(active ? 'stop' : 'record'));
    this.record.classList.toggle('recording', active);
    this.record.title = active ? `Stop recording (${status.recording.frames} frames)` : 'Record';
    this.record.setAttribute('aria-label', active ? 'Stop recording' : 'Record');
    this.isRecording = active;
    this.showDivergence(status.divergence);
  }

  // A diverged world is marked until the next reset.
  showDivergence(divergence) {
    this.unstable.hidden = !divergence;
    this.unstable.title = divergence?.text ?? '';
    if (divergence && divergence.count !== this.reported) toast(divergence.text, true);
    this.reported = divergence?.count ?? 0;
  }

  showTime(time) {
    this.latest = time;
    this.timer ||= setTimeout(() => this.writeTime(), READABLE);
  }

  writeTime() {
    this.timer = 0;
    const minutes = Math.floor(this.latest / 60), seconds = (this.latest % 60).toFixed(2).padStart(5, '0');
    const text = `${minutes}:${seconds}`;
    if (this.time.lastChild.textContent !== text) this.time.lastChild.textContent = text;
  }

  get isRunning() {
    return this.run.dataset.state === 'running';
  }

  async perform(op, fields = {}) {
    try {
      return await this.app.connection.request(op, fields);
    } catch (error) {
      toast(error.message, true);
      return null;
    }
  }

  async toggleRun() {
    const { status } = this;
    if (!status) return;
    if (status.mode !== 'live') {
      if (!(await this.perform('mode', { mode: 'live' }))) return;
      if (!status.paused) return;
    }
    const answer = await this.perform('pause', { paused: this.isRunning });
    if (answer) this.update({ ...this.status, paused: answer.paused, mode: 'live' });
  }

  async advance(count = STEPS) {
    if (!this.status) return;
    if (this.isRunning) await this.toggleRun();
    await this.perform('step', { count, while_paused: this.status.mode === 'live' });
  }

  async resetWorld(keyframe = '') {
    if (await this.perform('reset', keyframe ? { keyframe } : {})) {
      this.app.afterReset();
      toast(keyframe ? `Reset to ${keyframe}` : 'Reset');
    }
  }

  chooseKeyframe() {
    menu(this.keyframes, [{ label: 'Initial state', note: 'R', run: () => this.resetWorld() }, ...this.keyframeItems()]);
  }

  keyframeItems() {
    return (this.app.world?.keyframes ?? []).map((name) => ({ label: name, run: () => this.resetWorld(name) }));
  }

  chooseSpeed() {
    menu(this.speed, this.speedItems());
  }

  speedItems() {
    return SPEEDS.map((percent) => ({
      label: `${percent} %`,
      note: percent === 100 ? 'real time' : '',
      selected: Math.round(this.status?.speed ?? 100) === percent,
      run: () => this.perform('speed', { percent }),
    }));
  }

  // One menu for what a narrow bar hides.
  chooseFromAll() {
    const modes = ['live', 'direct'].map((mode) => ({ label: `${mode} mode`, selected: this.status?.mode === mode, run: () => this.perform('mode', { mode }) }));
    menu(this.more, [...(this.status?.mode === 'live' ? this.speedItems() : []), ...modes, ...this.keyframeItems().map((item) => ({ ...item, note: 'keyframe' }))]);
  }

  async toggleRecording() {
    if (!this.isRecording) {
      if (await this.perform('record_start')) toast('Recording');
      return;
    }
    const stopped = await this.perform('record_stop');
    if (!stopped) return;
    if (!stopped.frames) {
      toast('Nothing was recorded: time was frozen');
      return;
    }
    const name = this.app.recordings.name.value.trim();
    const saved = await this.perform('record_save', name ? { name: name.endsWith('.json') ? name : `${name}.json` } : {});
    if (saved) {
      toast(`Saved ${stopped.seconds.toFixed(1)} s as ${saved.path.split('/').at(-1)}`);
      this.app.recordings.refresh();
    }
  }
}

function fact(name, extra = '') {
  return el(`div.fact${extra && `.${extra}`}`, el('span', name), el('b', '–'));
}
