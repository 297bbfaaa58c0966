// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The right column: the selection with its joints and sensors; connected sessions.

import { button, el, fixed, icon, menu, number, panel } from './dom.js';

const PERIOD = 80; // ms between updates of numbers
const HOLD = 1500; // ms after input during which a slider does not follow its joint
const REPEAT = 150; // ms
const MAX_COMMAND = 1e4; // bound of velocity and effort commands whose range is larger
const DEGREES = 180 / Math.PI;

export class Inspector {
  constructor(app) {
    this.app = app;
    this.panel = panel('details', 'Details', 'info');
    this.channels = [];
    this.writers = [];
    this.written = 0;
    this.clear();
  }

  setWorld(world) {
    this.world = world;
    this.clear();
  }

  clear() {
    this.writers = [];
    this.channels = [];
    this.panel.body.replaceChildren(el('p.empty', 'Click a body to see its name, pose and joints.'));
  }

  show(body) {
    if (body < 1) {
      this.clear();
      return;
    }
    const { world, app } = this;
    const item = world.bodies[body];
    const robot = world.robots.find(({ prefix }) => prefix === item.robot);
    this.writers = [];
    this.channels = [];
    const parts = [el('p.title', item.local || item.name)];
    const group = () => app.bodies.groups[body];
    const kind = robot ? `body of ${robot.prefix}` : item.mocap ? 'moved by clients' : world.moving.includes(body) ? 'entity' : 'scenery';
    parts.push(el('p.sub-title', kind, item.mass ? ` · ${number(item.mass, 2)} kg` : ''));
    parts.push(this.facts([
      ['Position (m)', () => { const { x, y, z } = group().position; return [x, -z, y].map((part) => number(part)).join(', '); }],
      ['Roll, pitch, yaw', () => rpy(group().quaternion).map((angle) => `${fixed(angle * DEGREES, 1)}°`).join(', ')],
    ]));
    parts.push(el('div.row', button('fit', 'Show it', () => app.fit(body), { text: 'Show', shape: 'button.btn.small' }), button('follow', 'Follow it', () => app.views.set('follow', body), { text: 'Follow', shape: 'button.btn.small' }), this.deleteButton(item, robot)));
    const isBase = robot?.base === body;
    const joints = world.joints.filter((joint) => (isBase ? joint.robot === item.robot : joint.body === body));
    if (joints.length) {
      parts.push(el('h3', isBase ? `${joints.length} joints` : 'Joint', this.plotButton(joints.map((joint) => this.channel(joint.robot, 'position', joint.name)))));
      parts.push(el('div.scroll', ...joints.map((joint) => this.joint(joint))));
    }
    const sensors = isBase ? world.channels.filter((channel) => channel.robot === item.robot && channel.kind === 'sensor') : [];
    if (sensors.length) {
      parts.push(el('h3', 'Sensors'));
      parts.push(el('div.scroll', ...sensors.map((channel) => this.sensor(channel))));
    }
    this.panel.body.replaceChildren(...parts);
    this.write(true);
  }

  // Of a robot's base, and of an object; it asks once more.
  deleteButton(item, robot) {
    const name = robot ? robot.prefix : item.name;
    const isWhole = robot ? robot.base === item.id : this.world.entities.some(({ body }) => body === item.id);
    if (!isWhole || !this.world.spawnables.length) return null;
    const remove = button('close', `Delete ${name}`, () => menu(remove, [{ label: `Delete ${name}`, icon: 'close', run: () => this.app.change('delete', { entity: name }) }]), { text: 'Delete', shape: 'button.btn.small' });
    return remove;
  }

  facts(rows) {
    return el('dl.facts', ...rows.flatMap(([name, read]) => {
      const value = el('dd');
      this.writers.push(() => setText(value, read()));
      return [el('dt', name), value];
    }));
  }

  channel(robot, kind, name) {
    return this.world.channels.find((one) => one.robot === robot && one.kind === kind && one.name === name);
  }

  joint(joint) {
    const channel = this.channel(joint.robot, 'position', joint.name);
    this.channels.push(channel.id);
    const value = el('output');
    const mark = el('i');
    const slider = this.slider(joint);
    const unit = channel.unit === 'rad' ? '°' : ' m';
    this.writers.push((values) => {
      const now = values.get(channel.id)?.[0];
      if (now === undefined) return;
      setText(value, channel.unit === 'rad' ? `${fixed(now * DEGREES, 1)}${unit}` : `${number(now)}${unit}`);
      if (slider) slider.follow(now);
      else if (joint.range) {
        const share = (now - joint.range[0]) / (joint.range[1] - joint.range[0]);
        mark.style.marginLeft = `calc(${Math.min(1, Math.max(0, share)) * 100}% - ${share > 0.5 ? 3 : 0}px)`;
      }
    });
    return el('div.joint', el('span.name', { title: joint.name }, joint.name), value, this.plotButton([channel]), slider ?? (joint.range && el('span.track', mark)));
  }

  // The slider of an actuated joint. A position persists; velocity and effort are commanded only while it is held.
  slider(joint) {
    const robot = this.world.robots.find(({ prefix }) => prefix === joint.robot);
    const actuator = robot?.actuators.find((one) => one.joint === joint.name && (one.range || robot.controller === 'pd' || one.kind === 'position'));
    const range = actuator && (robot.controller === 'pd' ? joint.range : actuator.range ?? joint.range);
    if (!range) return null;
    const holds = actuator.kind === 'position' || robot.controller === 'pd';
    let lastInput = 0;
    const send = () => this.app.connection.send('setpoint', { robot: robot.prefix, actuator: actuator.name, value: Number(slider.value), expires: !holds });
    const [low, high] = holds ? range : [-1, 1].map((sign) => sign * Math.min(Math.max(...range.map(Math.abs)), MAX_COMMAND));
    const slider = el('input', { type: 'range', min: low, max: high, value: 0, step: 'any', title: holds ? `Command ${joint.name}` : `Hold to command ${joint.name}`, 'aria-label': `Command ${joint.name}` });
    slider.addEventListener('input', () => {
      lastInput = performance.now();
      send();
    });
    if (!holds) {
      // Repeated, because the command expires: the motor stops if the page is lost.
      let timer = 0;
      slider.addEventListener('pointerdown', () => (timer = setInterval(send, REPEAT)));
      slider.addEventListener('change', () => {
        clearInterval(timer);
        slider.value = 0;
        send();
      });
    }
    slider.follow = (now) => {
      if (holds && performance.now() - lastInput > HOLD) slider.value = now;
    };
    return slider;
  }

  sensor(channel) {
    const value = el('output', { style: 'font-size: 12px' });
    this.channels.push(channel.id);
    this.writers.push((values) => {
      const now = values.get(channel.id);
      if (now) setText(value, channel.width > 4 ? `${channel.width} values` : [...now].map((one) => number(one, channel.width > 1 ? 2 : 3)).join(', '));
    });
    const row = el('div.joint', { style: 'grid-template-columns: 1fr auto 24px' }, el('span.name', { title: channel.unit ? `${channel.name} (${channel.unit})` : channel.name }, channel.name), value, channel.width <= 16 ? this.plotButton([channel]) : el('span'));
    return row;
  }

  plotButton(channels) {
    return button('plot', 'Plot', () => this.app.plots.toggleChannels(channels), { shape: 'button.btn.small' });
  }

  write(isForced = false) {
    const now = performance.now();
    if (!isForced && now - this.written < PERIOD) return;
    this.written = now;
    for (const writer of this.writers) writer(this.app.watched);
  }
}

export class SessionsPanel {
  constructor(app) {
    this.app = app;
    this.panel = panel('people', 'Sessions', 'people', { closed: true });
    app.connection.addEventListener('update', ({ detail }) => detail.type === 'status' && this.draw(detail));
    app.connection.addEventListener('status', ({ detail }) => detail === 'open' || this.clear());
  }

  clear() {
    this.panel.count.textContent = '';
    this.panel.body.replaceChildren(el('p.empty', 'Not connected.'));
  }

  draw({ sessions, pages, control, mode, tick_rate: rate }) {
    this.panel.count.textContent = `${sessions.length}`;
    if (!this.panel.isOpen && !this.panel.section.classList.contains('shown')) return;
    this.panel.body.replaceChildren(
      el('dl.facts', el('dt', 'Mode'), el('dd', mode), el('dt', 'Physics'), el('dd', `${Math.round(rate)} Hz`), el('dt', 'Pages open'), el('dd', String(pages.length))),
      ...pages.map((page) => el('div.row', icon(page.view_only ? 'eye' : 'people'), el('label', pageLabel(page, this.app)), el('span.note', { style: 'color: var(--ink-3)' }, page.name === control.holder ? 'in control' : page.view_only ? 'view only' : ''))),
      ...sessions.map(({ client, shared, age }) => el('div.row', icon('people'), el('label', client || 'unnamed client'), el('span.note', { style: 'color: var(--ink-3)' }, shared ? 'shared' : 'policy', Number.isFinite(age) ? ` · ${since(age)}` : ''))),
    );
    for (const image of this.panel.body.querySelectorAll('svg')) image.setAttribute('width', 14);
  }
}

// 'Chrome on Linux 2', from the name spectator_2 of its session.
export function pageLabel({ name, device }, app) {
  const label = `${device} ${name.split('_').at(-1)}`;
  return name === app.connection.ack?.user_id ? `${label} (this page)` : label;
}

function since(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Roll, pitch, yaw about fixed axes (REP-103) of a quaternion in the axes of the page.
function rpy({ x, y, z, w }) {
  const [qx, qy, qz] = [x, -z, y];
  const pitch = Math.asin(Math.max(-1, Math.min(1, 2 * (w * qy - qz * qx))));
  return [Math.atan2(2 * (w * qx + qy * qz), 1 - 2 * (qx * qx + qy * qy)), pitch, Math.atan2(2 * (w * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))];
}
