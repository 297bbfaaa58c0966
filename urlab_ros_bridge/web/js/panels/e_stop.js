// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The e-stop: a button that is always there, and what every page shows while it is engaged.

import { button, el, toast } from './dom.js';

export class EStop {
  constructor(app) {
    this.app = app;
    this.engaged = false;
    this.button = button('', 'E-stop: stop all robots', () => this.set(true), { text: 'E-stop', key: 'Backspace', shape: 'button.btn' });
    document.getElementById('e-stop').append(this.button);
    this.release = button('', 'Release the e-stop', () => this.set(false), { text: 'Release' });
    this.banner = document.getElementById('stopped');
    this.banner.append(el('b', 'E-stop'), el('span', 'All robots are stopped'), this.release);
    app.connection.addEventListener('update', ({ detail }) => detail.type === 'status' && this.show(detail.e_stop));
    app.connection.addEventListener('status', ({ detail }) => detail === 'open' || this.show(false));
  }

  set(engaged) {
    return this.app.connection.request('e_stop', { engaged }).catch((error) => toast(error.message, true));
  }

  show(engaged) {
    this.engaged = engaged;
    this.banner.hidden = !engaged;
    this.button.setAttribute('aria-pressed', engaged);
    document.body.classList.toggle('stopped', engaged);
  }
}
