// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The WebSocket connection: hello, binary messages both ways, reconnection.

const STATE = 1, TEXT = 2, IMAGE = 3, CONTACTS = 4, ACK = 5;
const MIN_RETRY_DELAY = 250, MAX_RETRY_DELAY = 3000; // ms
const HEARTBEAT = 2000; // ms

export class Connection extends EventTarget {
  // Events: status (detail: 'connecting' | 'open' | 'lost'), world, state, contacts, image, update, refused.
  constructor(url) {
    super();
    this.url = url;
    this.role = 'spectator';
    this.retryDelay = MIN_RETRY_DELAY;
    this.pending = new Map();
    this.number = 0;
    this.received = 0;
    this.bytes = 0;
    this.connect();
    setInterval(() => this.sendProtocol('heartbeat', {}), HEARTBEAT);
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
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = (event) => this.closed(socket, event.reason);
    this.socket = socket;
  }

  hello(role = this.role) {
    this.role = role;
    const vr = role === 'vr_client' ? { requested_arm_count: 2, character_mode: this.mode ?? '' } : {};
    this.sendProtocol('hello', { client: deviceName(), role, extensions: ['binary'], ...vr });
  }

  // Send a message of the Virtual Field protocol.
  sendProtocol(type, payload) {
    if (this.isOpen) this.socket.send(JSON.stringify({ version: 1, type, payload }));
  }

  // Send a request without a reply: a control input that is repeated anyway.
  send(op, fields = {}) {
    if (this.isOpen) this.socket.send(encode({ op, ...fields }));
  }

  // Send a request; the promise rejects with the error of the simulation.
  request(op, fields = {}) {
    if (!this.isOpen) return Promise.reject(new Error('not connected'));
    const id = ++this.number;
    this.socket.send(encode({ op, id, ...fields }));
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  receive(data) {
    if (typeof data === 'string') {
      this.receiveProtocol(JSON.parse(data));
      return;
    }
    this.bytes += data.byteLength;
    const view = new DataView(data);
    switch (view.getUint8(0)) {
      case STATE: this.receiveState(view, data); break;
      case TEXT: this.receivePageMessage(JSON.parse(new TextDecoder().decode(new Uint8Array(data, 1)))); break;
      case IMAGE:
        this.emit('image', {
          camera: view.getUint16(2, true),
          time: view.getFloat64(8, true),
          blob: new Blob([new Uint8Array(data, 16)], { type: 'image/jpeg' }),
        });
        break;
      case CONTACTS: this.emit('contacts', new Float32Array(data, 8, view.getUint32(4, true) * 6)); break;
    }
  }

  receiveProtocol({ type, payload }) {
    if (type === 'hello_ack') {
      this.retryDelay = MIN_RETRY_DELAY;
      this.ack = payload;
      this.emit('status', 'open');
    } else if (type === 'error') {
      this.emit('refused', payload.reason);
      // Refused at the start: retry, as the simulation may return.
      if (!this.ack) this.socket.close();
    }
  }

  receiveState(view, data) {
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

  receivePageMessage(message) {
    if (message.type === 'world') {
      this.emit('world', message);
    } else if (message.type === 'answer') {
      const pending = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (message.error === undefined) pending?.resolve(message);
      else if (pending) pending.reject(new Error(message.error));
      else this.emit('refused', message.error);
    } else {
      this.emit('update', message);
    }
  }

  closed(socket, reason) {
    if (socket !== this.socket) return;
    this.ack = null;
    for (const { reject } of this.pending.values()) reject(new Error('the connection was lost'));
    this.pending.clear();
    this.emit('status', 'lost', reason);
    this.timer = setTimeout(() => this.connect(), this.retryDelay);
    this.retryDelay = Math.min(this.retryDelay * 1.6, MAX_RETRY_DELAY);
  }

  emit(name, detail, reason) {
    const event = new CustomEvent(name, { detail });
    event.reason = reason;
    this.dispatchEvent(event);
  }
}

// Browser and system: the name of this page in others.
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
