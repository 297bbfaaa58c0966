// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Which page may command: says so where it is another one, and lets this one ask or take over.

import { el, toast } from './dom.js';
import { pageLabel } from './inspector.js';

export class Control {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById('control');
    app.connection.addEventListener('news', ({ detail }) => detail.type === 'status' && this.take(detail));
  }

  take({ pages, control: { holder, requests } }) {
    const own = this.app.connection.ack?.user_id;
    const find = (name) => pages.find((page) => page.name === name);
    const isViewer = Boolean(find(own)?.view_only);
    document.body.classList.toggle('view-only', isViewer);
    const asking = requests.map(find).filter(Boolean);
    let key = '', parts = [];
    if (isViewer) {
      key = 'view';
      parts = ['This page only watches'];
    } else if (holder && holder !== own && find(holder)) {
      const isAsked = requests.includes(own);
      key = `${holder} ${isAsked}`;
      parts = [
        `${pageLabel(find(holder), this.app)} has control`,
        isAsked ? el('span.note', 'asked') : this.button('Ask', 'control_request'),
        this.button('Take', 'control_take'),
      ];
    } else if (holder === own && asking.length) {
      key = `asked ${requests}`;
      parts = [`${asking.map((page) => pageLabel(page, this.app)).join(', ')} asks for control`, this.button('Release', 'control_release')];
    }
    if (key === this.key) return;
    this.key = key;
    this.box.hidden = !parts.length;
    this.box.replaceChildren(...parts);
  }

  button(text, op) {
    return el('button.btn.text', { type: 'button', onclick: () => this.app.connection.ask(op).catch((error) => toast(error.message, true)) }, text);
  }
}
