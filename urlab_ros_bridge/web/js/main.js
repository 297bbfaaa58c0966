// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The page: creates its parts and connects them.

import { Bodies } from './scene/bodies.js';
import { Connection, socketUrl } from './connection.js';
import { ContactShadows } from './scene/contact_shadows.js';
import { Control } from './panels/control.js';
import { button, download, icon, isPhone, menu, remember, toast } from './panels/dom.js';
import { Driving, isTyping } from './input/driving.js';
import { EStop } from './panels/e_stop.js';
import { PointerTool } from './input/mouse.js';
import { Headset } from './input/headset.js';
import { Navigation } from './input/navigation.js';
import { showHelp } from './panels/help.js';
import { History } from './panels/history.js';
import { Inspector, SessionsPanel } from './panels/inspector.js';
import { Overlays } from './scene/overlays.js';
import { Published } from './scene/published.js';
import { MAX_PLOTTED_WIDTH, Plots } from './panels/plots.js';
import { CameraPanel, RecordingPanel, ScenePanel, ShowPanel } from './panels/scene_panel.js';
import { Stage } from './scene/stage.js';
import { Transport } from './panels/transport.js';
import { Views } from './scene/views.js';

const MAX_WATCHED = 250; // channels
const VEIL_DELAY = 350; // ms; shorter losses of the connection are not shown
const COASTING = 2000; // ms that a robot is kept in view after its last command
const LOST = /connection was lost/;
const CHANGED = /world has changed/;
const NO_SIMULATION = /no simulation|has gone/; // errors of the gateway while no simulation runs

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
    if (this.stage.quality === 'low') this.contactShadows = new ContactShadows(this.stage, this.bodies);
    this.published = new Published(this.stage, this.bodies);
    this.pointer = new PointerTool(this.stage, this.bodies, this.views, this.connection);
    this.transport = new Transport(this);
    this.history = new History(this);
    this.scenePanel = new ScenePanel(this);
    this.showPanel = new ShowPanel(this);
    this.cameras = new CameraPanel(this);
    this.recordings = new RecordingPanel(this);
    this.inspector = new Inspector(this);
    this.sessions = new SessionsPanel(this);
    this.control = new Control(this);
    this.eStop = new EStop(this);
    this.plots = new Plots(this);
    this.driving = new Driving(this);
    this.driving.addEventListener('change', () => {
      const robot = this.driving.moved ? this.driving.robot : null;
      clearTimeout(this.coasting);
      if (robot) this.views.setTracked(robot.base);
      else this.coasting = setTimeout(() => this.views.setTracked(null), COASTING);
      this.setHint(robot && `Driving ${robot.prefix}`);
    });
    this.navigation = new Navigation(this);
    this.headset = new Headset(this);
    this.buildLayout();
    this.bindEvents();
  }

  buildLayout() {
    const left = [this.scenePanel, this.showPanel, this.cameras, this.recordings];
    const right = [this.inspector, this.sessions];
    document.getElementById('left').append(...left.map(({ panel }) => panel.section));
    document.getElementById('right').append(...right.map(({ panel }) => panel.section));
    this.themeButton = button('sun', 'Light or dark', () => this.toggleTheme());
    const help = button('help', 'Help', showHelp, { key: '?' });
    help.id = 'help-button';
    document.getElementById('actions').append(button('photo', 'Save an image of the view', () => this.saveImage(), { shape: 'button.btn.wide' }), this.themeButton, help);
    this.drawTheme();
    this.orbitButton = button('orbit', 'Orbit', () => this.views.set('orbit'), { text: 'Orbit', key: '1' });
    this.followButton = button('follow', 'Follow a robot', () => this.followNext(), { text: 'Follow', key: '2' });
    this.cameraButton = button('camera', 'View through a camera of the world', () => this.chooseCamera(), { text: 'Camera', key: '3' });
    this.fitButton = button('fit', 'Show everything', () => this.fit(-1), { key: 'F' });
    const toggleTool = (tool) => this.setTool(this.pointer.tool === tool ? 'select' : tool);
    this.pushButton = button('push', 'Push bodies by dragging them', () => toggleTool('push'), { text: 'Push' });
    this.pushButton.id = 'push';
    this.turnButton = button('turn', 'Turn the tips of arms by dragging their handles', () => toggleTool('turn'), { text: 'Turn' });
    this.turnButton.id = 'turn';
    this.stickButton = button('drive', 'On-screen stick for driving', () => this.driving.showStick(this.driving.stick.hidden));
    this.stickButton.id = 'stick-button';
    const plots = button('plot', 'Plots', () => this.plots.toggle(), { key: 'P' });
    plots.id = 'plots';
    const back = button('clock', 'Timeline: look back', () => this.history.toggle(), { key: 'K' });
    const rule = () => Object.assign(document.createElement('span'), { className: 'rule' });
    document.getElementById('tools').append(this.orbitButton, this.followButton, this.cameraButton, this.fitButton, rule(), this.pushButton, this.turnButton, this.stickButton, this.navigation.button, rule(), plots, back);
    this.drawView();
    this.buildTabs([...left, ...right].map(({ panel }) => panel));
  }

  // On a phone one panel at a time is shown, as a sheet at the bottom.
  buildTabs(panels) {
    const tabs = document.getElementById('tabs');
    const show = (chosen) => {
      for (const panel of panels) {
        const isShown = panel === chosen && !panel.section.classList.contains('shown');
        panel.section.classList.toggle('shown', isShown);
        if (isShown) panel.open(true);
      }
      for (const column of document.querySelectorAll('.column')) column.classList.toggle('shown', Boolean(column.querySelector('.shown')));
      const any = Boolean(document.querySelector('.panel.shown'));
      document.body.classList.toggle('sheet', any);
      for (const [index, panel] of panels.entries()) tabs.children[index].setAttribute('aria-pressed', panel.section.classList.contains('shown'));
      this.cameras.requestImages();
      if (this.world) this.scenePanel.mark(); // scrolls to the selection
    };
    tabs.append(...panels.map((panel) => {
      const tab = button(panel.iconName, panel.title, () => show(panel));
      tab.append(panel.title === 'Recordings' ? 'Records' : panel.title);
      return tab;
    }));
    this.closeSheet = () => show(null);
    this.hideEmptyTabs = () => panels.forEach(({ section }, index) => (tabs.children[index].hidden = section.hidden));
    this.stage.renderer.domElement.addEventListener('pointerdown', () => isPhone() && show(null));
  }

  bindEvents() {
    const { connection } = this;
    connection.addEventListener('status', ({ detail, reason }) => this.connected(detail, reason));
    connection.addEventListener('world', ({ detail }) => this.setWorld(detail));
    connection.addEventListener('state', ({ detail }) => this.receiveState(detail));
    connection.addEventListener('contacts', ({ detail }) => this.overlays.setContacts(detail));
    connection.addEventListener('update', ({ detail }) => detail.type === 'published' && this.published.set(detail));
    connection.addEventListener('refused', ({ detail }) => {
      if (!connection.ack) this.showWaiting(detail);
      else if (!NO_SIMULATION.test(detail)) toast(detail, true);
    });
    this.pointer.addEventListener('place', ({ detail }) => this.place(detail));
    this.pointer.addEventListener('select', ({ detail }) => this.select(detail));
    this.views.addEventListener('change', () => this.drawView());
    this.stage.renderer.domElement.addEventListener('dblclick', () => this.selected > 0 && this.fit(this.selected));
    addEventListener('keydown', (event) => this.key(event));
    this.connected('connecting');
  }

  connected(status, reason = '') {
    if (status === 'open') {
      clearTimeout(this.veilTimer);
      this.veilTimer = 0;
      this.veilText = '';
      document.getElementById('veil').classList.remove('on');
      return;
    }
    if (NO_SIMULATION.test(reason)) this.showWaiting(reason);
    else if (CHANGED.test(reason)) this.showVeil('The world has changed. Loading it');
    else this.showVeil(this.veilText || (this.wasOpen ? 'Connection lost. Reconnecting' : 'Connecting'));
  }

  // The gateway runs but no simulation does: keep this text until one does.
  showWaiting(reason) {
    const text = this.wasOpen ? 'The simulation has ended. Waiting for it to return' : 'No simulation is running. Waiting for it to start';
    this.veilText = NO_SIMULATION.test(reason) ? text : reason;
    this.showVeil(this.veilText);
  }

  showVeil(text) {
    const veil = document.getElementById('veil');
    veil.querySelector('p').textContent = text;
    this.veilTimer ||= setTimeout(() => veil.classList.add('on'), this.states ? VEIL_DELAY : 0);
  }

  async setWorld(world) {
    // With something added or removed it is still the same world: view and selection stay.
    const isSame = this.world?.name === world.name;
    const selected = isSame && this.selected > 0 ? this.world.bodies[this.selected].name : null;
    const selection = selected === null ? -1 : world.bodies.findIndex(({ name }) => name === selected);
    this.wasOpen = true;
    this.select(-1);
    this.world = world;
    this.watchKey = '';
    this.order = [];
    document.getElementById('world-name').textContent = world.name;
    document.title = `${world.name} · URLab`;
    this.isLoaded = this.hasRobots = false;
    const { first, all } = this.bodies.setWorld(world);
    this.pointer.setWorld(world);
    this.overlays.setWorld(world);
    this.contactShadows?.setWorld(world);
    this.published.clear();
    for (const part of [this.scenePanel, this.showPanel, this.cameras, this.inspector, this.plots, this.history, this.driving]) part.setWorld(world);
    this.hideEmptyTabs();
    this.recordings.clearReplay();
    if (this.transport.status) this.recordings.refresh();
    this.stickButton.hidden = this.navigation.button.hidden = !this.driving.robots.length;
    this.turnButton.hidden = !world.tips.some(({ turns }) => turns);
    this.cameraButton.hidden = !world.cameras.some(({ pose }) => pose);
    this.followButton.hidden = !world.robots.length;
    this.pushButton.hidden = !world.moving.length;
    this.watchChannels();
    if (!isSame) {
      this.views.set('orbit');
      this.isFramed = false;
    }
    performance.mark('urlab-world');
    await first;
    if (this.world !== world) return;
    performance.mark('urlab-robots');
    this.hasRobots = true;
    this.stage.isSuspended = false;
    this.overlays.resetLabelHeights();
    this.frameOnce();
    if (!this.firstFrameTime) this.stage.beforeFrame.push(() => this.markFirstFrame());
    await all;
    if (this.world !== world) return;
    this.isLoaded = true;
    this.overlays.resetLabelHeights();
    this.select(selection);
    this.showHint();
  }

  markFirstFrame() {
    if (this.firstFrameTime || !this.stage.frames) return;
    this.firstFrameTime = performance.now();
    performance.mark('urlab-first-frame');
  }

  // Everything of the world is loaded and drawn.
  get isReady() {
    return Boolean(this.firstFrameTime && this.isFramed && this.isLoaded && this.stage.isComplete);
  }

  frameOnce() {
    if (this.isFramed || !this.latest || !this.hasRobots) return;
    this.bodies.setPoses(this.latest.poses);
    this.isFramed = true;
    this.views.frame(this.world);
  }

  showHint() {
    const { robot, robots } = this.driving;
    const text = !robot && robots.length ? 'Select a robot and drive it with W A S D or arrow keys' : robot ? `W A S D or arrow keys drive ${robot.prefix}` : this.world.tips.length ? 'Drag a handle to move an arm' : this.world.moving.length ? 'Hold Shift and drag to push a body' : '';
    if (this.isHintShown) return;
    this.isHintShown = true;
    this.setHint(text);
    setTimeout(() => document.getElementById('hint').textContent === text && this.setHint(''), 6000);
  }

  // Show a hint until there is another one, or none.
  setHint(text) {
    const box = document.getElementById('hint');
    if (text) box.textContent = text;
    box.classList.toggle('on', Boolean(text));
  }

  receiveState(state) {
    if (!this.world) return;
    this.states += 1;
    if (state.time < this.latest?.time) this.afterReset(); // by anyone
    this.latest = state;
    let start = 0;
    for (const { id, width } of this.order) {
      if (start + width > state.values.length) break;
      this.watched.set(id, state.values.subarray(start, start + width));
      start += width;
    }
    this.history.push(state.time, state.poses, this.order, state.values);
    this.transport.showTime(state.time);
    if (!this.history.isBack) {
      this.bodies.setPoses(state.poses);
      this.overlays.update(state.values, this.watched);
    }
    if (this.isReset && this.world.robots.length) {
      this.isReset = false;
      this.views.showIfOutOfView(this.world.robots.flatMap(({ bodies }) => bodies));
    }
    this.inspector.write();
    this.plots.update(state.time, this.watched);
    this.frameOnce();
  }

  // Subscribe to the channels that any part of the page shows.
  watchChannels() {
    if (!this.world || !this.connection.isOpen) return;
    const { channels, lidars } = this.world;
    const ids = new Set([...(this.plots?.ids ?? []), ...(this.inspector?.channels ?? [])]);
    if (this.overlays.shown.scans) for (const { channel } of lidars) ids.add(channel);
    // As many others as may be watched, so that a plot begins with the past.
    for (const { id, width } of channels) if (width <= MAX_PLOTTED_WIDTH) ids.add(id);
    const order = [...ids].slice(0, MAX_WATCHED).map((id) => ({ id, width: channels[id].width }));
    const key = JSON.stringify(order);
    if (key === this.watchKey) return;
    this.watchKey = key;
    this.connection.request('watch', { channels: order.map(({ id }) => id) }).then(() => {
      this.order = order;
      const kept = new Set(order.map(({ id }) => id));
      for (const id of this.watched.keys()) if (!kept.has(id)) this.watched.delete(id);
    }).catch(() => (this.watchKey = ''));
  }

  select(body) {
    const { world } = this;
    this.selected = world && body > 0 && body < world.bodies.length ? body : -1;
    if (!world) return;
    this.bodies.select(this.selected);
    this.inspector.show(this.selected);
    this.navigation.showAvailability();
    this.scenePanel.mark();
    this.watchChannels();
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
    menu(this.cameraButton, cameras.map((camera) => ({ label: camera.name, icon: 'camera', selected: this.views.target === camera, run: () => this.views.set('camera', camera) })));
  }

  drawView() {
    for (const [part, mode] of [[this.orbitButton, 'orbit'], [this.followButton, 'follow'], [this.cameraButton, 'camera']]) part.setAttribute('aria-pressed', this.views.mode === mode);
  }

  // Choose a model; the next click says where it goes.
  chooseModel(anchor) {
    menu(anchor, this.world.spawnables.map((model) => ({ label: model, icon: 'box', run: () => {
      this.setTool('place');
      this.model = model;
      toast(`Click where the ${model} goes; Esc ends`);
    } })));
  }

  place(position) {
    this.setTool('select');
    this.change('spawn', { model: this.model, position });
  }

  // Another world begins with this request, and may end the connection before it is answered.
  change(op, fields) {
    this.connection.request(op, fields).catch(({ message }) => LOST.test(message) || toast(message, true));
  }

  setTool(tool) {
    if (this.pointer.tool === 'aim') this.setHint('');
    this.pointer.setTool(tool);
    this.navigation.hide();
    for (const [part, name] of [[this.pushButton, 'push'], [this.turnButton, 'turn'], [this.navigation.button, 'aim']]) part.setAttribute('aria-pressed', tool === name);
    this.stage.renderer.domElement.classList.toggle('aim', tool !== 'select');
    document.body.classList.toggle('aiming', tool === 'aim');
  }

  afterReset() {
    this.overlays.clearTrails();
    this.isReset = true;
  }

  saveImage() {
    this.stage.drawNow().toBlob((blob) => download(`${this.world?.name ?? 'urlab'}.png`, blob));
  }

  toggleTheme() {
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

// Physical keys, independent of keyboard layout and Caps Lock.
const KEYS = {
  Backspace: (app) => app.eStop.set(true),
  Space: (app) => app.transport.toggleRun(),
  Period: (app) => app.transport.advance(),
  KeyR: (app) => app.transport.resetWorld(),
  Digit1: (app) => app.views.set('orbit'),
  Digit2: (app) => app.followNext(),
  Digit3: (app) => app.chooseCamera(),
  KeyF: (app) => app.fit(app.selected),
  KeyG: (app) => app.pointer.toggleGrip(app.pointer.chosenTip),
  KeyH: () => document.body.classList.toggle('bare'),
  KeyC: (app) => app.showPanel.toggle('contacts'),
  KeyT: (app) => app.showPanel.toggle('trails'),
  KeyX: (app) => app.showPanel.toggle('frames'),
  KeyL: (app) => app.showPanel.toggle('scans'),
  KeyB: (app) => app.showPanel.toggle('colliding'),
  KeyP: (app) => app.plots.toggle(),
  KeyN: (app) => app.navigation.start('goal'),
  KeyI: (app) => app.navigation.start('initial_pose'),
  KeyK: (app) => app.history.toggle(),
  Escape: (app) => {
    app.cameras.shrink();
    app.closeSheet();
    if (app.pointer.tool === 'select') app.select(-1);
    app.setTool('select');
  },
};

// For tests and the console.
window.urlab = new App();
