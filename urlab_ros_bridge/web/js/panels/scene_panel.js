// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The left column: scene tree, visibility switches, camera images, recordings.

import { button, download, el, icon, isPhone, panel, toast, toggle } from './dom.js';

const REPLAY_PERIOD = 40; // ms
const LARGEST = 512e6; // bytes of a file that a browser is given
const stem = (path) => path.replace(/\.json$/, '');

export class ScenePanel {
  constructor(app) {
    this.app = app;
    this.panel = panel('scene', 'Scene', 'layers', { flush: true });
    this.list = el('div.scroll', { role: 'tree' });
    this.add = button('box', 'Add an object or a robot', () => app.chooseModel(this.add), { text: 'Add', shape: 'button.btn.small' });
    this.panel.body.append(this.list, this.add);
    this.open = new Set();
  }

  setWorld(world) {
    this.world = world;
    this.add.hidden = !world.spawnables.length;
    this.panel.count.textContent = `${world.robots.length + world.entities.length || ''}`;
    this.open = new Set(world.robots.length === 1 ? [world.robots[0].prefix] : []);
    this.draw();
  }

  draw() {
    const { world } = this;
    const rows = [];
    for (const robot of world.robots) {
      const open = this.open.has(robot.prefix);
      const twist = el(open ? 'span.twist.open' : 'span.twist', { onclick: (event) => (event.stopPropagation(), this.toggle(robot.prefix)) }, icon('right'));
      rows.push(this.row('head', robot.base, twist, robot.prefix, robot.joints ? `${robot.joints} joints` : ''));
      if (open) {
        for (const id of robot.bodies) {
          const body = world.bodies[id];
          rows.push(this.row('sub', id, null, body.local || body.name, id === robot.base ? 'base' : ''));
        }
      }
    }
    for (const { name, body } of world.entities) rows.push(this.row('', body, icon('box'), name, ''));
    if (!rows.length) rows.push(el('p.empty', { style: 'padding: 0 7px 6px' }, 'Nothing moves in this world.'));
    this.list.replaceChildren(...rows);
    this.mark();
  }

  row(kind, body, sign, name, note) {
    const row = el(kind ? `button.item.${kind}` : 'button.item', { type: 'button', role: 'treeitem', onclick: () => this.app.select(body), ondblclick: () => this.app.fit(body) }, sign, el('span.name', name), el('span.note', note));
    row.dataset.body = body;
    return row;
  }

  toggle(prefix) {
    if (!this.open.delete(prefix)) this.open.add(prefix);
    this.draw();
  }

  mark() {
    const body = this.app.selected;
    const robot = body > 0 ? this.world.bodies[body].robot : '';
    if (robot && this.world.robots.find(({ prefix }) => prefix === robot)?.base !== body && !this.open.has(robot)) {
      this.open.add(robot);
      this.draw();
      return;
    }
    for (const row of this.list.children) {
      const isSelected = Number(row.dataset.body) === body;
      row.setAttribute?.('aria-selected', isSelected);
      if (isSelected) row.scrollIntoView({ block: 'nearest' });
    }
  }
}

export class ShowPanel {
  constructor(app) {
    this.panel = panel('show', 'Show', 'eye');
    const { overlays, bodies, pointer, connection } = app;
    const contacts = (on) => {
      overlays.show('contacts', on);
      connection.request('contacts', { on }).catch(() => {});
    };
    this.switches = {
      contacts: toggle('Contacts and forces', false, contacts, 'C'),
      trails: toggle('Trails', false, (on) => (overlays.clearTrails(), overlays.show('trails', on)), 'T'),
      frames: toggle('Frames', false, (on) => overlays.show('frames', on), 'X'),
      scans: toggle('Laser scans', true, (on) => (overlays.show('scans', on), app.watchChannels()), 'L'),
      colliding: toggle('Collision shapes', false, (on) => bodies.setCollisionShapes(on), 'B'),
      handles: toggle('Arm handles', true, (on) => pointer.showHandles(on)),
      names: toggle('Names', true, (on) => overlays.show('names', on)),
    };
    this.panel.body.append(...Object.values(this.switches));
    this.contacts = contacts;
  }

  setWorld(world) {
    this.switches.scans.hidden = !world.lidars.length;
    this.switches.handles.hidden = !world.tips.length;
    if (this.switches.contacts.input.checked) this.contacts(true);
  }

  toggle(name) {
    const { input } = this.switches[name];
    input.checked = !input.checked;
    input.dispatchEvent(new Event('change'));
  }
}

export class CameraPanel {
  constructor(app) {
    this.app = app;
    this.panel = panel('cameras', 'Cameras', 'camera', { closed: true });
    this.names = el('div');
    this.images = el('div.camera-images');
    this.panel.body.append(this.names, this.images);
    this.shown = new Map(); // name -> figure
    this.next = new WeakMap(); // image that is loading -> the blob to load next, or null
    this.panel.section.addEventListener('toggle', () => this.requestImages());
    app.connection.addEventListener('image', ({ detail }) => this.draw(detail));
  }

  setWorld(world) {
    const kept = [...this.shown.keys()].filter((name) => world.cameras.some((camera) => camera.name === name));
    for (const figure of this.shown.values()) figure.remove();
    this.shown.clear();
    this.world = world;
    this.panel.section.hidden = !world.cameras.length;
    this.panel.count.textContent = String(world.cameras.length);
    this.switches = new Map(world.cameras.map(({ name, mode }) => {
      const label = mode === 'real' ? name : `${name} (${mode})`;
      return [name, toggle(label, kept.includes(name), (on) => this.show(name, on))];
    }));
    this.names.replaceChildren(...this.switches.values());
    for (const name of kept) this.add(name);
    this.requestImages();
  }

  show(name, on) {
    if (on) this.add(name);
    else {
      this.shown.get(name)?.remove();
      this.shown.delete(name);
    }
    this.requestImages();
  }

  add(name) {
    const image = el('img', { alt: `Image of ${name}` });
    const figure = el('figure.camera-image', { style: 'margin: 0', title: 'Enlarge', onclick: () => this.enlarge(figure, !figure.classList.contains('large')) }, image, el('figcaption', name));
    this.shown.set(name, figure);
    this.images.append(figure);
  }

  // Enlarged, it is moved out of its panel, which would clip it.
  enlarge(figure, isLarge) {
    figure.classList.toggle('large', isLarge);
    (isLarge ? document.body : this.images).append(figure);
  }

  // Close enlarged images.
  shrink() {
    for (const figure of this.shown.values()) if (figure.classList.contains('large')) this.enlarge(figure, false);
  }

  // A closed panel requests no images.
  requestImages() {
    const isVisible = isPhone() ? this.panel.section.classList.contains('shown') : this.panel.isOpen;
    const names = isVisible ? [...this.shown.keys()] : [];
    this.app.connection.request('cameras', { names }).catch(() => {});
  }

  draw({ camera, blob }) {
    const name = this.world?.cameras[camera]?.name;
    const image = this.shown.get(name)?.querySelector('img');
    if (!image) return;
    if (this.next.has(image)) this.next.set(image, blob);
    else this.load(image, blob);
  }

  // Load one image at a time; then the newest of those that arrived in the meantime.
  load(image, blob) {
    const url = URL.createObjectURL(blob);
    this.next.set(image, null);
    image.onload = image.onerror = ({ type }) => {
      URL.revokeObjectURL(url);
      if (type === 'load') image.dataset.images = Number(image.dataset.images ?? 0) + 1;
      const next = this.next.get(image);
      this.next.delete(image);
      if (next) this.load(image, next);
    };
    image.src = url;
  }
}

export class RecordingPanel {
  constructor(app) {
    this.app = app;
    this.panel = panel('recordings', 'Recordings', 'record', { closed: true });
    this.list = el('div');
    this.file = el('input', { type: 'text', placeholder: 'File on the server', style: 'flex: 1', 'aria-label': 'File on the server' });
    const load = button('', 'Load a recording', () => this.load(), { text: 'Load' });
    this.file.addEventListener('keydown', (event) => event.key === 'Enter' && this.load());
    this.name = el('input', { type: 'text', placeholder: 'Name of the next recording', style: 'flex: 1', 'aria-label': 'Name of the next recording' });
    this.fileRow = el('div.row', this.file, load);
    this.panel.body.append(el('div.scroll', this.list), el('div.row', this.name), this.fileRow);
    this.panel.section.addEventListener('toggle', () => this.panel.isOpen && this.refresh());
    this.bar = document.getElementById('timeline');
  }

  async refresh() {
    const answer = await this.app.connection.request('replay_list').catch(() => null);
    if (!answer) return;
    const recorded = this.app.transport.status?.recording?.frames !== 0;
    const { saved } = answer;
    const names = answer.sessions.filter((name) => (name === 'live' ? recorded : !saved?.some(({ path }) => stem(path) === name)));
    const rows = [...names.map((name) => this.row(name === 'live' ? 'Last recording' : name, '', () => this.start(name))), ...(saved ?? []).map((one) => this.savedRow(one, answer.sessions))];
    this.fileRow.hidden = Boolean(saved);
    this.panel.count.textContent = String(rows.length || '');
    this.list.replaceChildren(...rows);
    if (!rows.length) this.list.replaceChildren(el('p.empty', 'Press Record to make one.'));
  }

  row(name, note, run, ...more) {
    return el('div.row', el('button.item', { type: 'button', onclick: run, title: 'Replay' }, icon('play'), el('span.name', name), note && el('span.note', note)), ...more);
  }

  // A file on the server: its length, and when it was saved.
  savedRow({ path, bytes, modified, seconds }, sessions) {
    const when = new Date(modified * 1000), today = when.toDateString() === new Date().toDateString();
    const date = today ? when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : when.toLocaleDateString([], { day: 'numeric', month: 'short' });
    const row = this.row(stem(path), `${seconds === null ? '' : `${seconds.toFixed(1)} s · `}${date}`, () => this.startSaved(path, sessions), button('save', `Download ${path}`, () => this.download(path, bytes), { shape: 'button.btn.small' }));
    row.title = `${path}, ${(bytes / 1e6).toFixed(1)} MB, ${when.toLocaleString()}`;
    return row;
  }

  async startSaved(path, sessions) {
    const loaded = sessions.includes(stem(path)) ? { name: stem(path) } : await this.app.transport.perform('replay_load', { name: path });
    if (!loaded) return;
    await this.start(loaded.name);
    this.refresh();
  }

  // In pieces, so that no message is large.
  async download(path, bytes) {
    if (bytes > LARGEST) {
      toast(`${path} has ${(bytes / 1e6).toFixed(0)} MB: copy it from the folder of the server`, true);
      return;
    }
    const pieces = [];
    for (let offset = 0, piece; !offset || piece.text; offset += piece.text.length) {
      piece = await this.app.transport.perform('recording_read', { name: path, offset });
      if (!piece) return;
      pieces.push(piece.text);
      if (!piece.text) break;
    }
    download(path, new Blob(pieces, { type: 'application/json' }));
  }

  async load() {
    const name = this.file.value.trim();
    if (!name) return;
    const loaded = await this.app.transport.perform('replay_load', { name });
    if (loaded) {
      toast(`Loaded ${loaded.name}`);
      this.file.value = '';
      this.refresh();
    }
  }

  async start(session) {
    const before = this.app.transport.status?.mode ?? 'live';
    const answer = await this.app.transport.perform('replay_start', { session });
    if (!answer) return;
    if (!answer.frames) {
      toast('This recording has no frames', true);
      this.app.transport.perform('replay_stop', { mode: before });
      return;
    }
    this.replay = { session, total: answer.frames, frame: -1, isPlaying: true, modeBefore: before };
    this.draw();
    this.play();
  }

  draw() {
    const { session, total } = this.replay;
    this.slider = el('input', { type: 'range', min: 0, max: total - 1, value: 0, 'aria-label': 'Frame', oninput: () => this.seek(Number(this.slider.value)) });
    this.knob = button('pause', 'Pause the replay', () => this.togglePlay());
    this.when = el('span.when');
    this.bar.replaceChildren(this.knob, el('span.what', session === 'live' ? 'Last recording' : session), this.slider, this.when, button('close', 'End the replay', () => this.stop()));
    this.bar.hidden = false;
    this.app.history.setBlocked(true);
  }

  // The server advances a replay by steps: as many as correspond to the elapsed time.
  async play() {
    const { replay } = this;
    let last = performance.now();
    while (this.replay === replay) {
      await new Promise((done) => setTimeout(done, REPLAY_PERIOD));
      const now = performance.now(), elapsed = (now - last) / 1000;
      last = now;
      if (!replay.isPlaying || replay.frame >= replay.total - 1 || replay.seeking) continue;
      const count = Math.max(1, Math.round(elapsed / (this.app.world.timestep || 0.002)));
      await this.move(Math.min(count, replay.total - 1 - replay.frame));
    }
  }

  async move(count) {
    const answer = await this.app.connection.request('step', { count }).catch(() => null);
    if (answer?.replay && this.replay) this.show(answer.replay.frame);
    else if (this.replay && !answer?.replay) this.stop();
  }

  show(frame) {
    this.replay.frame = frame;
    this.slider.value = frame;
    const step = this.app.world.timestep || 0.002;
    this.when.textContent = `${(frame * step).toFixed(2)} / ${((this.replay.total - 1) * step).toFixed(2)} s`;
    if (frame >= this.replay.total - 1) this.setPlaying(false);
  }

  async seek(frame) {
    const { replay } = this;
    replay.goal = frame;
    if (replay.seeking) return;
    replay.seeking = true;
    while (replay.goal !== null && this.replay === replay) {
      const goal = replay.goal;
      replay.goal = null;
      if (goal <= replay.frame) {
        await this.app.connection.request('replay_start', { session: replay.session }).catch(() => {});
        replay.frame = -1;
      }
      while (replay.frame < goal && this.replay === replay) await this.move(Math.min(goal - replay.frame, 10000));
    }
    replay.seeking = false;
  }

  togglePlay() {
    if (this.replay.frame >= this.replay.total - 1) this.seek(0);
    this.setPlaying(!this.replay.isPlaying);
  }

  setPlaying(isPlaying) {
    this.replay.isPlaying = isPlaying;
    this.knob.replaceChildren(icon(isPlaying ? 'pause' : 'play'));
    this.knob.title = isPlaying ? 'Pause the replay' : 'Resume the replay';
    this.knob.setAttribute('aria-label', this.knob.title);
  }

  stop() {
    const { modeBefore: before } = this.replay ?? {};
    this.replay = null;
    this.bar.hidden = true;
    this.app.history.setBlocked(false);
    this.app.connection.request('replay_stop', { mode: before === 'direct' ? 'direct' : 'live' }).catch(() => {});
  }

  // A new simulation has no replay running.
  clearReplay() {
    if (!this.replay) return;
    this.replay = null;
    this.bar.hidden = true;
    this.app.history.setBlocked(false);
  }
}
