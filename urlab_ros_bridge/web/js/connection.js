// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The socket: hello, binary messages both ways, and coming back after every loss.

const STATE = 1, TEXT = 2, PICTURE = 3, CONTACTS = 4, ACK = 5;
const FIRST_PAUSE = 250, LONGEST_PAUSE = 3000; // ms between two tries
const HEARTBEAT = 2000; // ms

export class Connection extends EventTarget {
  // Events: status (detail: 'connecting' | 'open' | 'lost'), world, state, contacts, picture, news, refused.
  constructor(url) {
    super();
    this.url = url;
    this.role = 'spectator';
    this.pause = FIRST_PAUSE;
    this.waiting = new Map();
    this.number = 0;
    this.received = 0;
    this.bytes = 0;
    this.connect();
    setInterval(() => this.say('heartbeat', {}), HEARTBEAT);
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    this.emit('status', 'connecting');
    const socket = new WebSocket(this.url);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.hello();
    socket.onmessage = (event) => this.take(event.data);
    socket.onclose = (event) => this.lose(socket, event.reason);
    this.socket = socket;
  }

  hello(role = this.role) {
    this.role = role;
    const vr = role === 'vr_client' ? { requested_arm_count: 2, character_mode: this.mode ?? '' } : {};
    this.say('hello', { client: deviceName(), role, extensions: ['binary'], ...vr });
  }

  // A message of the protocol.
  say(type, payload) {
    if (this.isOpen) this.socket.send(JSON.stringify({ version: 1, type, payload }));
  }

  // A request of the page without an answer: hands, which say the same again soon.
  tell(op, fields = {}) {
    if (this.isOpen) this.socket.send(encode({ op, ...fields }));
  }

  // A request of the page; the promise fails with what the simulation says.
  ask(op, fields = {}) {
    if (!this.isOpen) return Promise.reject(new Error('not connected'));
    const id = ++this.number;
    this.socket.send(encode({ op, id, ...fields }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  take(data) {
    if (typeof data === 'string') {
      this.takeText(JSON.parse(data));
      return;
    }
    this.bytes += data.byteLength;
    const view = new DataView(data);
    switch (view.getUint8(0)) {
      case STATE: this.takeState(view, data); break;
      case TEXT: this.takeNews(JSON.parse(new TextDecoder().decode(new Uint8Array(data, 1)))); break;
      case PICTURE:
        this.emit('picture', {
          camera: view.getUint16(2, true),
          time: view.getFloat64(8, true),
          blob: new Blob([new Uint8Array(data, 16)], { type: 'image/jpeg' }),
        });
        break;
      case CONTACTS: this.emit('contacts', new Float32Array(data, 8, view.getUint32(4, true) * 6)); break;
    }
  }

  takeText({ type, payload }) {
    if (type === 'hello_ack') {
      this.pause = FIRST_PAUSE;
      this.ack = payload;
      this.emit('status', 'open');
    } else if (type === 'error') {
      this.emit('refused', payload.reason);
      // Refused before it began: try again, as the simulation may come back.
      if (!this.ack) this.socket.close();
    }
  }

  takeState(view, data) {
    const number = view.getUint32(4, true);
    const bodies = view.getUint32(24, true);
    const values = view.getUint32(28, true);
    const ack = new DataView(new ArrayBuffer(8));
    ack.setUint8(0, ACK);
    ack.setUint32(4, number, true);
    this.socket.send(ack.buffer);
    this.received += 1;
    this.emit('state', {
      time: view.getFloat64(8, true),
      step: Number(view.getBigUint64(16, true)),
      poses: new Float32Array(data, 32, bodies * 7),
      values: new Float32Array(data, 32 + bodies * 28, values),
    });
  }

  takeNews(message) {
    if (message.type === 'world') {
      this.emit('world', message);
    } else if (message.type === 'answer') {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message);
      else if (waiting) waiting.reject(new Error(message.error));
      else this.emit('refused', message.error);
    } else {
      this.emit('news', message);
    }
  }

  lose(socket, reason) {
    if (socket !== this.socket) return;
    this.ack = null;
    for (const { reject } of this.waiting.values()) reject(new Error('the connection was lost'));
    this.waiting.clear();
    this.emit('status', 'lost', reason);
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 1.6, LONGEST_PAUSE);
  }

  emit(name, detail, reason) {
    const event = new CustomEvent(name, { detail });
    event.reason = reason;
    this.dispatchEvent(event);
  }
}

// Browser and system, by which other pages know this one.
function deviceName() {
  const agent = navigator.userAgent;
  const first = (pairs) => pairs.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = first([[/Quest|OculusBrowser/, 'Quest'], [/Edg\//, 'Edge'], [/Firefox\//, 'Firefox'], [/Chrom(e|ium)\//, 'Chrome'], [/Safari\//, 'Safari']]);
  const system = first([[/Android/, 'Android'], [/iPhone|iPad/, 'iOS'], [/Windows/, 'Windows'], [/Mac OS/, 'macOS'], [/Linux|CrOS/, 'Linux']]);
  return [browser ?? 'Browser', system].filter(Boolean).join(' on ');
}

export function socketUrl() {
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return `${scheme}//${location.host}${location.pathname}${location.search}`;
}

function encode(content) {
  const text = new TextEncoder().encode(JSON.stringify(content));
  const message = new Uint8Array(text.length + 1);
  message[0] = TEXT;
  message.set(text, 1);
  return message;
}
