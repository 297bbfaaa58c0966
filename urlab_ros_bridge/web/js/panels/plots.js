// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Plots of joints and sensors over simulated time.

import uPlot from '../../vendor/uplot/dist/uPlot.esm.js';
import { button, download, el, menu, number } from './dom.js';

const SECONDS = 20, MAX_POINTS = 10000, HEIGHT = 150, PERIOD = 66; // ms
const WINDOWS = [5, 10, 20, 60, 120];
export const MAX_PLOTTED_WIDTH = 16; // values of a channel that is plotted

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
    this.title = el('b', 'Plots');
    this.follow = button('', 'Follow the newest values again', () => this.unzoom(), { text: 'Follow', shape: 'button.btn.small' });
    this.follow.hidden = true;
    this.hidden = new Set(); // names of signals that are not drawn
    this.dock.append(el('div.head', this.title, this.legend, this.follow, this.add, this.length, button('save', 'Save as CSV', () => this.save(), { shape: 'button.btn.small' }), button('close', 'Close the plots', () => this.hide(), { key: 'P', shape: 'button.btn.small' })), this.chart);
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
    this.build();
    this.length.textContent = `${seconds} s`;
  }

  choose() {
    const { world } = this;
    const robots = new Map();
    const kinds = { position: 'positions', velocity: 'velocities', effort: 'efforts', control: 'controls' };
    for (const channel of world.channels) {
      if (channel.width > MAX_PLOTTED_WIDTH) continue;
      const many = kinds[channel.kind];
      const label = many ? `${channel.robot}: joint ${many}` : `${channel.robot}: ${channel.name}`;
      robots.set(label, [...(robots.get(label) ?? []), channel]);
    }
    menu(this.add, [...robots].map(([label, channels]) => {
      const text = label.replace('joint controls', 'controls');
      return { label: text, note: channels[0].unit, selected: this.hasAll(channels), run: () => (channels.length > 1 ? this.chooseOf(text, channels) : this.toggleChannels(channels)) };
    }));
  }

  hasAll(channels) {
    return !this.dock.hidden && channels.every((channel) => this.channels.includes(channel));
  }

  // All signals of a kind, or one of them.
  chooseOf(label, channels) {
    menu(this.add, [
      { label: `All: ${label}`, selected: this.hasAll(channels), run: () => this.toggleChannels(channels) },
      ...channels.map((channel) => ({ label: channel.name, note: channel.unit, selected: this.hasAll([channel]), run: () => this.toggleChannels([channel]) })),
    ]);
  }

  build() {
    this.plot?.destroy();
    this.plot = null;
    this.timeOffset = 0; // seconds by which resets have set the clock back
    this.rows = this.past();
    this.setZoomed(false);
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
    const series = this.names.map((label, index) => ({ label, show: !this.hidden.has(label), stroke: colors[index % colors.length], width: 1.5, dash: index >= colors.length ? [5, 3] : undefined, points: { show: false } }));
    this.values = [];
    this.legend.replaceChildren(...series.map(({ label, stroke }, index) => {
      const value = el('b', '–');
      this.values.push(value);
      const item = el('button.series', { type: 'button', title: `Hide or show ${label}`, 'aria-pressed': !this.hidden.has(label), onclick: () => this.toggleSignal(index, item) }, el('i', { style: `background: ${stroke}` }), label, value);
      return item;
    }));
    const axis = { stroke: ink, font: '11px Inter, system-ui, sans-serif', grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const units = new Set(this.channels.map(({ unit }) => unit));
    this.plot = new uPlot({
      width: Math.max(120, this.chart.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { size: 5 }, drag: { x: true, y: false }, bind: { dblclick: () => () => this.unzoom() } },
      hooks: { setCursor: [() => this.write()], setSelect: [({ select }) => select.width > 0 && this.setZoomed(true)] },
      scales: { x: { time: false }, y: { range: (plot, low, high) => padded(low, high) } },
      axes: [
        { ...axis, size: 22, values: (plot, ticks) => ticks.map((tick) => `${tick} s`) },
        { ...axis, size: 54, label: units.size === 1 ? [...units][0] : undefined, labelSize: 16, labelFont: axis.font },
      ],
      series: [{}, ...series],
    }, this.rows, this.chart);
  }

  // Rows of time and values with what the timeline has of these channels.
  past() {
    const { history, latest } = this.app;
    const since = (latest?.time ?? 0) - this.seconds;
    const times = history?.frames.filter(({ time }) => time >= since).map(({ time }) => time) ?? [];
    const rows = this.channels.flatMap(({ id, width }) => {
      const values = history?.values(id, since) ?? [];
      return Array.from({ length: width }, (_, part) => values.map((value) => (Number.isFinite(value?.[part]) ? value[part] : null)));
    });
    return [times, ...rows];
  }

  toggleSignal(index, item) {
    const label = this.names[index];
    if (!this.hidden.delete(label)) this.hidden.add(label);
    this.plot.setSeries(index + 1, { show: !this.hidden.has(label) });
    item.setAttribute('aria-pressed', !this.hidden.has(label));
  }

  // A part of the time, chosen by dragging, stays until it is followed again.
  setZoomed(isZoomed) {
    this.isZoomed = isZoomed;
    this.follow.hidden = !isZoomed;
  }

  unzoom() {
    this.setZoomed(false);
    this.drawn = 0;
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
    if (!this.isZoomed) this.plot.setScale('x', { min: time - this.seconds, max: time });
    this.write();
  }

  // The values under the cursor, else the newest.
  write() {
    const pointed = this.plot?.cursor.idx;
    const at = pointed ?? this.rows[0].length - 1;
    this.title.textContent = Number.isInteger(pointed) ? `${this.rows[0][at]?.toFixed(2)} s` : 'Plots';
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
