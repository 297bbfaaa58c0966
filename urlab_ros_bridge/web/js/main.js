// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The page: makes its parts and tells each what happens.

import { Bodies } from './scene/bodies.js';
import { Connection, socketUrl } from './connection.js';
import { Control } from './panels/control.js';
import { button, download, icon, isPhone, menu, remember, toast } from './panels/dom.js';
import { Driving, isTyping } from './hands/driving.js';
import { Hands } from './hands/mouse.js';
import { Headset } from './hands/headset.js';
import { showHelp } from './panels/help.js';
import { History } from './panels/history.js';
import { Inspector, PeoplePanel } from './panels/inspector.js';
import { Overlays } from './scene/overlays.js';
import { Published } from './scene/published.js';
import { Plots } from './panels/plots.js';
import { CameraPanel, RecordingPanel, ScenePanel, ShowPanel } from './panels/scene_panel.js';
import { Stage } from './scene/stage.js';
import { Transport } from './panels/transport.js';
import { Views } from './scene/views.js';

const VEIL_AFTER = 350; // ms; short losses are not worth a word
const GONE = /no simulation|has gone/; // what the gateway says while there is none

class App {
  constructor() {
    this.world = null;
    this.selected = -1;
    this.watched = new Map(); // channel -> values
    this.order = [];
    this.states = 0;
    this.connection = new Connection(socketUrl());
    this.stage = new Stage(document.getElementById('stage'));
    this.bodies = new Bodies(this.stage);
    this.views = new Views(this.stage, this.bodies);
    this.overlays = new Overlays(this.stage, this.bodies);
    this.published = new Published(this.stage, this.bodies);
    this.hands = new Hands(this.stage, this.bodies, this.views, this.connection);
    this.transport = new Transport(this);
    this.history = new History(this);
    this.scenePanel = new ScenePanel(this);
    this.showPanel = new ShowPanel(this);
    this.cameras = new CameraPanel(this);
    this.recordings = new RecordingPanel(this);
    this.inspector = new Inspector(this);
    this.people = new PeoplePanel(this);
    this.control = new Control(this);
    this.plots = new Plots(this);
    this.driving = new Driving(this);
    this.driving.addEventListener('change', () => {
      const robot = this.driving.moved ? this.driving.robot : null;
      this.views.setKept(robot?.base ?? null);
      const box = document.getElementById('hint');
      if (robot) box.textContent = `Driving ${robot.prefix}`;
      box.classList.toggle('on', Boolean(robot));
    });
    this.headset = new Headset(this);
    this.layOut();
    this.listen();
  }

  layOut() {
    const left = [this.scenePanel, this.showPanel, this.cameras, this.recordings];
    const right = [this.inspector, this.people];
    document.getElementById('left').append(...left.map(({ panel }) => panel.section));
    document.getElementById('right').append(...right.map(({ panel }) => panel.section));
    this.themeButton = button('sun', 'Light or dark', () => this.flipTheme());
    const help = button('help', 'Help', showHelp, { key: '?' });
    help.id = 'help-button';
    document.getElementById('actions').append(button('photo', 'Save an image of the view', () => this.saveImage(), { shape: 'button.btn.wide' }), this.themeButton, help);
    this.drawTheme();
    this.orbit = button('orbit', 'Orbit', () => this.views.set('orbit'), { text: 'Orbit', key: '1' });
    this.follow = button('follow', 'Follow a robot', () => this.followNext(), { text: 'Follow', key: '2' });
    this.first = button('camera', 'View through a camera of the world', () => this.chooseCamera(), { text: 'Camera', key: '3' });
    this.fitButton = button('fit', 'Show everything', () => this.fit(-1), { key: 'F' });
    this.pushButton = button('push', 'Push bodies by dragging them', () => this.setTool(this.hands.tool === 'push' ? 'look' : 'push'), { text: 'Push' });
    this.pushButton.id = 'push';
    this.stickButton = button('drive', 'On-screen stick for driving', () => this.driving.showStick(this.driving.stick.hidden));
    this.stickButton.id = 'stick-button';
    const plots = button('plot', 'Plots', () => this.plots.toggle(), { key: 'P' });
    plots.id = 'plots';
    const back = button('clock', 'Timeline: look back', () => this.history.toggle(), { key: 'K' });
    const rule = () => Object.assign(document.createElement('span'), { className: 'rule' });
    document.getElementById('tools').append(this.orbit, this.follow, this.first, this.fitButton, rule(), this.pushButton, this.stickButton, rule(), plots, back);
    this.drawView();
    this.layOutTabs([...left, ...right].map(({ panel }) => panel));
  }

  // On a phone one panel at a time comes up from below.
  layOutTabs(panels) {
    const tabs = document.getElementById('tabs');
    const show = (chosen) => {
      for (const panel of panels) {
        const is = panel === chosen && !panel.section.classList.contains('shown');
        panel.section.classList.toggle('shown', is);
        if (is) panel.open(true);
      }
      for (const column of document.querySelectorAll('.column')) column.classList.toggle('shown', Boolean(column.querySelector('.shown')));
      const any = Boolean(document.querySelector('.panel.shown'));
      document.body.classList.toggle('sheet', any);
      for (const [index, panel] of panels.entries()) tabs.children[index].setAttribute('aria-pressed', panel.section.classList.contains('shown'));
      this.cameras.tell();
    };
    tabs.append(...panels.map((panel) => {
      const tab = button(panel.iconName, panel.title, () => show(panel));
      tab.append(panel.title === 'Recordings' ? 'Records' : panel.title);
      return tab;
    }));
    this.closeSheet = () => show(null);
    this.stage.renderer.domElement.addEventListener('pointerdown', () => isPhone() && show(null));
  }

  listen() {
    const { connection } = this;
    connection.addEventListener('status', ({ detail, reason }) => this.connected(detail, reason));
    connection.addEventListener('world', ({ detail }) => this.setWorld(detail));
    connection.addEventListener('state', ({ detail }) => this.takeState(detail));
    connection.addEventListener('contacts', ({ detail }) => this.overlays.setContacts(detail));
    connection.addEventListener('news', ({ detail }) => detail.type === 'published' && this.published.set(detail));
    connection.addEventListener('refused', ({ detail }) => {
      if (!connection.ack) this.waitFor(detail);
      else if (!GONE.test(detail)) toast(detail, true);
    });
    this.hands.addEventListener('select', ({ detail }) => this.select(detail));
    this.views.addEventListener('change', () => this.drawView());
    this.stage.renderer.domElement.addEventListener('dblclick', () => this.selected > 0 && this.fit(this.selected));
    addEventListener('keydown', (event) => this.key(event));
    this.connected('connecting');
  }

  connected(status, reason = '') {
    if (status === 'open') {
      clearTimeout(this.veilTimer);
      this.veilTimer = 0;
      this.cause = '';
      document.getElementById('veil').classList.remove('on');
      return;
    }
    if (GONE.test(reason)) this.waitFor(reason);
    else this.cover(this.cause || (this.wasOpen ? 'Connection lost. Reconnecting' : 'Connecting'));
  }

  // The gateway is there and the simulation is not: this holds through all tries until it is.
  waitFor(reason) {
    const waits = this.wasOpen ? 'The simulation has ended. Waiting for it to return' : 'No simulation is running. Waiting for it to start';
    this.cause = GONE.test(reason) ? waits : reason;
    this.cover(this.cause);
  }

  cover(text) {
    const veil = document.getElementById('veil');
    veil.querySelector('p').textContent = text;
    this.veilTimer ||= setTimeout(() => veil.classList.add('on'), this.states ? VEIL_AFTER : 0);
  }

  async setWorld(world) {
    const same = this.world && JSON.stringify([this.world.name, this.world.robots, this.world.bodies.length]) === JSON.stringify([world.name, world.robots, world.bodies.length]);
    const kept = same ? this.selected : -1;
    this.wasOpen = true;
    this.select(-1);
    this.world = world;
    document.getElementById('world-name').textContent = world.name;
    document.title = `${world.name} · URLab`;
    this.isLoaded = this.hasRobots = false;
    const { first, all } = this.bodies.setWorld(world);
    this.hands.setWorld(world);
    this.overlays.setWorld(world);
    this.published.clear();
    for (const part of [this.scenePanel, this.showPanel, this.cameras, this.inspector, this.plots, this.history, this.driving]) part.setWorld(world);
    this.recordings.forget();
    if (this.transport.status) this.recordings.refresh();
    this.stickButton.hidden = !this.driving.robots.length;
    this.first.hidden = !world.cameras.some(({ pose }) => pose);
    this.follow.hidden = !world.robots.length;
    this.pushButton.hidden = !world.moving.length;
    this.watchAll();
    if (!same) {
      this.views.set('orbit');
      this.isFramed = false;
    }
    performance.mark('urlab-world');
    await first;
    if (this.world !== world) return;
    performance.mark('urlab-robots');
    this.hasRobots = true;
    this.stage.isHeld = false;
    this.overlays.measure();
    this.frameOnce();
    if (!this.drawnAt) this.stage.drawers.push(() => this.noteFirstPicture());
    await all;
    if (this.world !== world) return;
    this.isLoaded = true;
    this.overlays.measure();
    this.select(kept);
    this.hint();
  }

  noteFirstPicture() {
    if (this.drawnAt || !this.stage.frames) return;
    this.drawnAt = performance.now();
    performance.mark('urlab-first-picture');
  }

  // All that belongs to the world is there and drawn.
  get isReady() {
    return Boolean(this.drawnAt && this.isFramed && this.isLoaded && this.stage.isComplete);
  }

  frameOnce() {
    if (this.isFramed || !this.latest || !this.hasRobots) return;
    this.bodies.setPoses(this.latest.poses);
    this.isFramed = true;
    this.views.frame(this.world);
  }

  hint() {
    const { robot, robots } = this.driving;
    const text = !robot && robots.length ? 'Select a robot and drive it with W A S D or arrow keys' : robot ? `W A S D or arrow keys drive ${robot.prefix}` : this.world.tips.length ? 'Drag a handle to move an arm' : this.world.moving.length ? 'Hold Shift and drag to push a body' : '';
    const box = document.getElementById('hint');
    box.textContent = text;
    box.classList.toggle('on', Boolean(text) && !this.hinted);
    this.hinted = true;
    setTimeout(() => this.driving.moved || box.classList.remove('on'), 6000);
  }

  takeState(state) {
    if (!this.world) return;
    this.states += 1;
    if (state.time < this.latest?.time) this.overlays.clearTrails(); // somebody has reset the world
    this.latest = state;
    let start = 0;
    for (const { id, width } of this.order) {
      if (start + width > state.values.length) break;
      this.watched.set(id, state.values.subarray(start, start + width));
      start += width;
    }
    this.history.push(state.time, state.poses);
    this.transport.showTime(state.time);
    if (!this.history.isBack) {
      this.bodies.setPoses(state.poses);
      this.overlays.update(state.values, this.watched);
    }
    if (this.isReset && this.world.robots.length) {
      this.isReset = false;
      this.views.showAgain(this.world.robots.flatMap(({ bodies }) => bodies));
    }
    this.inspector.write();
    this.plots.update(state.time, this.watched);
    this.frameOnce();
  }

  // All that some part of the page looks at, asked for at once.
  watchAll() {
    if (!this.world) return;
    const ids = new Set([...(this.plots?.ids ?? []), ...(this.inspector?.channels ?? [])]);
    if (this.overlays.shown.scans) for (const { channel } of this.world.lidars) ids.add(channel);
    const order = [...ids].slice(0, 250).map((id) => ({ id, width: this.world.channels[id].width }));
    if (!this.connection.isOpen) return;
    this.connection.ask('watch', { channels: order.map(({ id }) => id) }).then(() => {
      this.order = order;
      for (const id of this.watched.keys()) if (!ids.has(id)) this.watched.delete(id);
    }).catch(() => {});
  }

  select(body) {
    const { world } = this;
    this.selected = world && body > 0 && body < world.bodies.length ? body : -1;
    if (!world) return;
    this.bodies.select(this.selected);
    this.inspector.show(this.selected);
    this.scenePanel.mark();
    this.watchAll();
  }

  fit(body) {
    this.views.fit(body > 0 ? this.bodies.bounds([body]) : this.bodies.bounds(this.world.moving.length ? this.world.moving : [0]));
  }

  followNext() {
    const robots = this.world.robots.filter(({ base }) => base);
    if (!robots.length) return;
    const chosen = this.selected > 0 ? this.world.bodies[this.selected].robot : '';
    const index = robots.findIndex(({ base }) => this.views.mode === 'follow' && base === this.views.target);
    const next = index >= 0 && robots.length > 1 ? robots[(index + 1) % robots.length] : robots.find(({ prefix }) => prefix === chosen) ?? robots[0];
    this.views.set('follow', next.base);
    toast(`Following ${next.prefix}`);
  }

  chooseCamera() {
    const cameras = this.world.cameras.filter(({ pose, mode }) => pose && mode === 'real');
    menu(this.first, cameras.map((camera) => ({ label: camera.name, icon: 'camera', selected: this.views.target === camera, run: () => this.views.set('first', camera) })));
  }

  drawView() {
    for (const [part, mode] of [[this.orbit, 'orbit'], [this.follow, 'follow'], [this.first, 'first']]) part.setAttribute('aria-pressed', this.views.mode === mode);
  }

  setTool(tool) {
    this.hands.tool = tool;
    this.pushButton.setAttribute('aria-pressed', tool === 'push');
    this.stage.renderer.domElement.classList.toggle('aim', tool === 'push');
  }

  afterReset() {
    this.overlays.clearTrails();
    this.isReset = true;
  }

  saveImage() {
    this.stage.drawNow().toBlob((blob) => download(`${this.world?.name ?? 'urlab'}.png`, blob));
  }

  flipTheme() {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    remember('theme', root.dataset.theme);
    this.drawTheme();
    document.dispatchEvent(new Event('urlab-theme'));
  }

  drawTheme() {
    const { theme } = document.documentElement.dataset;
    this.themeButton.replaceChildren(icon(theme === 'dark' ? 'sun' : 'moon'));
    this.stage.setTheme(theme);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const run = event.key === '?' ? showHelp : KEYS[event.code];
    const onButton = event.target instanceof HTMLButtonElement && event.code === 'Space';
    if (!run || event.repeat || onButton || !this.world) return;
    event.preventDefault();
    run(this);
  }
}

// Places on the keyboard, whatever its layout and Caps Lock.
const KEYS = {
  Space: (app) => app.transport.flip(),
  Period: (app) => app.transport.advance(),
  KeyR: (app) => app.transport.rewind(),
  Digit1: (app) => app.views.set('orbit'),
  Digit2: (app) => app.followNext(),
  Digit3: (app) => app.chooseCamera(),
  KeyF: (app) => app.fit(app.selected),
  KeyH: () => document.body.classList.toggle('bare'),
  KeyC: (app) => app.showPanel.flip('contacts'),
  KeyT: (app) => app.showPanel.flip('trails'),
  KeyX: (app) => app.showPanel.flip('frames'),
  KeyL: (app) => app.showPanel.flip('scans'),
  KeyB: (app) => app.showPanel.flip('colliding'),
  KeyP: (app) => app.plots.toggle(),
  KeyK: (app) => app.history.toggle(),
  Escape: (app) => {
    app.cameras.shrink();
    app.closeSheet();
    app.select(-1);
    app.setTool('look');
  },
};

// For tests and for the curious.
window.urlab = new App();
