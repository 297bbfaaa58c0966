// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Which page has control: names it if it is another one, and lets this one request or take control.

import { el, toast } from './dom.js';
import { pageLabel } from './inspector.js';

export class Control {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById('control');
    app.connection.addEventListener('update', ({ detail }) => detail.type === 'status' && this.update(detail));
  }

  update({ pages, control: { holder, requests } }) {
    const own = this.app.connection.ack?.user_id;
    const byName = (name) => pages.find((page) => page.name === name);
    const isViewer = Boolean(byName(own)?.view_only);
    document.body.classList.toggle('view-only', isViewer);
    const requesters = requests.map(byName).filter(Boolean);
    let key = '', parts = [];
    if (isViewer) {
      key = 'view';
      parts = ['This page only watches'];
    } else if (holder && holder !== own && byName(holder)) {
      const isRequested = requests.includes(own);
      key = `${holder} ${isRequested}`;
      parts = [
        `${pageLabel(byName(holder), this.app)} has control`,
        isRequested ? el('span.note', 'asked') : this.button('Ask', 'control_request'),
        this.button('Take', 'control_take'),
      ];
    } else if (holder === own && requesters.length) {
      key = `asked ${requests}`;
      parts = [`${requesters.map((page) => pageLabel(page, this.app)).join(', ')} asks for control`, this.button('Release', 'control_release')];
    }
    if (key === this.key) return;
    this.key = key;
    this.box.hidden = !parts.length;
    this.box.replaceChildren(...parts);
  }

  button(text, op) {
    return el('button.btn.text', { type: 'button', onclick: () => this.app.connection.request(op).catch((error) => toast(error.message, true)) }, text);
  }
}
