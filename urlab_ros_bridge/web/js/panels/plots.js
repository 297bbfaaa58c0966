// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Plots of joints and sensors over simulated time.

import uPlot from '../../vendor/uplot/dist/uPlot.esm.js';
import { button, download, el, menu, number } from './dom.js';

const SECONDS = 20, MAX_POINTS = 4000, HEIGHT = 150, PERIOD = 66; // ms
const WINDOWS = [5, 10, 20, 60];

export class Plots {
  constructor(app) {
    this.app = app;
    this.dock = document.getElementById('dock');
    this.channels = [];
    this.seconds = SECONDS;
    this.rows = [];
    this.drawn = 0;
    this.legend = el('div.legend');
    this.chart = el('div');
    this.add = button('plot', 'Choose channels to plot', () => this.choose(), { text: 'Add', shape: 'button.btn.small' });
    this.length = button('', 'Time span', () => menu(this.length, WINDOWS.map((seconds) => ({ label: `${seconds} s`, selected: seconds === this.seconds, run: () => this.setLength(seconds) }))), { text: `${SECONDS} s`, shape: 'button.btn.small' });
    this.dock.append(el('div.head', el('b', 'Plots'), this.legend, this.add, this.length, button('save', 'Save as CSV', () => this.save(), { shape: 'button.btn.small' }), button('close', 'Close the plots', () => this.hide(), { key: 'P', shape: 'button.btn.small' })), this.chart);
    addEventListener('resize', () => this.plot?.setSize({ width: this.chart.clientWidth, height: HEIGHT }));
    document.addEventListener('urlab-theme', () => this.build());
  }

  setWorld(world) {
    this.world = world;
    const same = ({ robot, kind, name }) => world.channels.find((one) => one.robot === robot && one.kind === kind && one.name === name);
    this.channels = this.channels.map(same).filter(Boolean);
    this.build();
  }

  get ids() {
    return this.dock.hidden ? [] : this.channels.map(({ id }) => id);
  }

  toggleChannels(channels) {
    const all = channels.every((channel) => this.channels.includes(channel));
    if (all && !this.dock.hidden) this.channels = this.channels.filter((channel) => !channels.includes(channel));
    else this.channels = [...this.channels, ...channels.filter((channel) => !this.channels.includes(channel))].slice(0, 24);
    if (this.channels.length) this.show();
    else this.hide();
  }

  show() {
    this.dock.hidden = false;
    if (!this.channels.length && this.world) this.channels = this.world.channels.filter(({ kind }) => kind === 'position').slice(0, 6);
    this.build();
  }

  hide() {
    this.dock.hidden = true;
    this.plot?.destroy();
    this.plot = null;
    this.app.watchChannels();
  }

  toggle() {
    if (this.dock.hidden) this.show();
    else this.hide();
  }

  setLength(seconds) {
    this.seconds = seconds;
    this.length.textContent = `${seconds} s`;
  }

  choose() {
    const { world } = this;
    const robots = new Map();
    const kinds = { position: 'positions', velocity: 'velocities', effort: 'efforts', control: 'controls' };
    for (const channel of world.channels) {
      if (channel.width > 16) continue;
      const many = kinds[channel.kind];
      const label = many ? `${channel.robot}: joint ${many}` : `${channel.robot}: ${channel.name}`;
      robots.set(label, [...(robots.get(label) ?? []), channel]);
    }
    menu(this.add, [...robots].map(([label, channels]) => ({ label: label.replace('joint controls', 'controls'), note: channels[0].unit, run: () => this.toggleChannels(channels) })));
  }

  build() {
    this.plot?.destroy();
    this.plot = null;
    this.timeOffset = 0; // seconds by which resets have set the clock back
    this.rows = [[], ...this.channels.flatMap(({ width }) => Array.from({ length: width }, () => []))];
    this.app.watchChannels?.();
    if (this.dock.hidden) return;
    const style = getComputedStyle(document.documentElement);
    const colors = style.getPropertyValue('--plots').split(',').map((color) => color.trim());
    const ink = style.getPropertyValue('--ink-3').trim(), line = style.getPropertyValue('--line').trim();
    const many = new Set(this.channels.map(({ robot }) => robot)).size > 1;
    this.names = this.channels.flatMap((channel) => {
      const stem = `${many ? `${channel.robot} ` : ''}${channel.name}${channel.kind === 'velocity' ? ' vel' : channel.kind === 'effort' ? ' effort' : ''}`;
      return channel.width === 1 ? [stem] : channel.parts.map((part) => `${stem} ${part}`);
    });
    const series = this.names.map((label, index) => ({ label, stroke: colors[index % colors.length], width: 1.5, dash: index >= colors.length ? [5, 3] : undefined, points: { show: false } }));
    this.values = [];
    this.legend.replaceChildren(...series.map(({ label, stroke }, index) => {
      const value = el('b', '–');
      this.values.push(value);
      const channel = this.ownerOf(index);
      return el('button.series', { type: 'button', title: `Remove ${label}`, onclick: () => this.toggleChannels([channel]) }, el('i', { style: `background: ${stroke}` }), label, value);
    }));
    const axis = { stroke: ink, font: '11px Inter, system-ui, sans-serif', grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const units = new Set(this.channels.map(({ unit }) => unit));
    this.plot = new uPlot({
      width: Math.max(120, this.chart.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
      hooks: { setCursor: [() => this.write()] },
      scales: { x: { time: false }, y: { range: (plot, low, high) => padded(low, high) } },
      axes: [
        { ...axis, size: 22, values: (plot, ticks) => ticks.map((tick) => `${tick} s`) },
        { ...axis, size: 54, label: units.size === 1 ? [...units][0] : undefined, labelSize: 16, labelFont: axis.font },
      ],
      series: [{}, ...series],
    }, this.rows, this.chart);
  }

  ownerOf(index) {
    for (const channel of this.channels) {
      if (index < channel.width) return channel;
      index -= channel.width;
    }
    return null;
  }

  update(time, watched) {
    if (!this.plot) return;
    const times = this.rows[0];
    time += this.timeOffset;
    if (times.length && time < times.at(-1)) { // a reset: time continues from the last point
      this.timeOffset += times.at(-1) - time;
      time = times.at(-1) + 1e-6;
      times.push(time);
      for (const row of this.rows.slice(1)) row.push(null);
      return;
    }
    if (times.length && time === times.at(-1)) return;
    const values = this.channels.flatMap(({ id, width }) => [...(watched.get(id) ?? new Array(width).fill(null))]);
    if (values.length !== this.rows.length - 1) return;
    times.push(time);
    values.forEach((value, index) => this.rows[index + 1].push(Number.isFinite(value) ? value : null));
    if (times.length > MAX_POINTS || times[0] < time - 1.5 * this.seconds) {
      const first = Math.max(times.findIndex((one) => one >= time - this.seconds) - 1, times.length - MAX_POINTS, 0);
      for (const row of this.rows) row.splice(0, first);
    }
    const now = performance.now();
    if (now - this.drawn < PERIOD) return;
    this.drawn = now;
    this.plot.setData(this.rows, false);
    this.plot.setScale('x', { min: time - this.seconds, max: time });
    this.write();
  }

  // The values under the cursor, else the newest.
  write() {
    const at = this.plot?.cursor.idx ?? this.rows[0].length - 1;
    this.values.forEach((value, index) => (value.textContent = number(this.rows[index + 1][at] ?? NaN)));
  }

  save() {
    const rows = this.rows[0].map((time, at) => [time, ...this.rows.slice(1).map((row) => row[at] ?? '')].join(','));
    const head = ['time', ...this.names.map((name) => name.replaceAll(',', ' '))].join(',');
    download(`${this.world.name}.csv`, new Blob([[head, ...rows].join('\n'), '\n'], { type: 'text/csv' }));
  }
}

function padded(low, high) {
  if (low === null || high === null) return [-1, 1];
  const margin = Math.max((high - low) * 0.1, 0.02, Math.abs(high) * 1e-3);
  return [low - margin, high + margin];
}
