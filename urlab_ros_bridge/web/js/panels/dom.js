// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Helpers that create elements, and the icons (24 x 24, stroked).

const PATHS = {
  play: '<path d="M7 4.5v15l12-7.5z" fill="currentColor" stroke-linejoin="round"/>',
  pause: '<path d="M8 5v14M16 5v14" stroke-width="3.4"/>',
  step: '<path d="M6 5v14l9-7z" fill="currentColor" stroke-linejoin="round"/><path d="M18.5 5v14" stroke-width="2.6"/>',
  reset: '<path d="M4 5v5h5"/><path d="M4.6 10A8 8 0 1 1 4 14"/>',
  record: '<circle cx="12" cy="12" r="6.2" fill="currentColor"/>',
  stop: '<rect x="6" y="6" width="12" height="12" rx="2" fill="currentColor"/>',
  sun: '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4"/>',
  moon: '<path d="M20 14.2A8 8 0 1 1 9.8 4a6.4 6.4 0 0 0 10.2 10.2z" stroke-linejoin="round"/>',
  help: '<path d="M9.2 9.2a2.9 2.9 0 1 1 4.2 2.6c-.9.5-1.4 1.1-1.4 2.2"/><path d="M12 17.4v.1" stroke-width="2.6"/><circle cx="12" cy="12" r="9"/>',
  chevron: '<path d="m6 9 6 6 6-6"/>',
  right: '<path d="m9 6 6 6-6 6"/>',
  robot: '<rect x="5" y="9" width="14" height="10" rx="3"/><path d="M12 9V5M9.5 14v.1M14.5 14v.1" stroke-width="2.2"/>',
  box: '<path d="m12 3 8 4.4v9.2L12 21l-8-4.4V7.4z" stroke-linejoin="round"/><path d="m4.4 7.6 7.6 4.2 7.6-4.2M12 12v8.6"/>',
  joint: '<circle cx="12" cy="12" r="3"/><path d="M4 20l5.8-5.8M14.2 9.8 20 4"/>',
  camera: '<rect x="3" y="7" width="13" height="10" rx="2.4"/><path d="m16 11 5-3v8l-5-3" stroke-linejoin="round"/>',
  plot: '<path d="M4 4v16h16"/><path d="m7 15 4-5 3 3 5-7"/>',
  layers: '<path d="m12 4 8.5 4.6L12 13 3.500 8.600z" stroke-linejoin="round"/><path d="m4 13 8 4.300 8-4.300"/>',
  orbit: '<circle cx="12" cy="12" r="3"/><ellipse cx="12" cy="12" rx="9" ry="4.200" transform="rotate(-24 12 12)"/>',
  follow: '<circle cx="12" cy="12" r="7"/><path d="M12 2v5M12 17v5M2 12h5M17 12h5"/>',
  eye: '<path d="M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12z" stroke-linejoin="round"/><circle cx="12" cy="12" r="2.800"/>',
  fit: '<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/>',
  push: '<path d="M4 12h12M11 6.500l6 5.500-6 5.500M20.500 5v14" stroke-linejoin="round"/>',
  drive: '<circle cx="12" cy="12" r="9"/><circle cx="12" cy="12" r="2.300"/><path d="M12 14.300V21M9.900 11.200 3.600 8.800M14.100 11.200l6.300-2.400"/>',
  turn: '<path d="M4.500 9.500A8 8 0 0 1 19 8.500M19.500 14.500A8 8 0 0 1 5 15.500"/><path d="M19.500 4v4.800h-4.800M4.500 20v-4.800h4.800" stroke-linejoin="round"/><circle cx="12" cy="12" r="2"/>',
  flag: '<path d="M6 21V4M6 5h12l-3 3.800 3 3.700H6" stroke-linejoin="round"/>',
  photo: '<path d="M4 8h3l1.600-2.500h6.800L17 8h3v11H4z" stroke-linejoin="round"/><circle cx="12" cy="13" r="3.200"/>',
  save: '<path d="M12 4v11M7 10.500l5 5 5-5M5 19.500h14"/>',
  close: '<path d="m6 6 12 12M18 6 6 18"/>',
  info: '<circle cx="12" cy="12" r="9"/><path d="M12 11v5M12 7.800v.1" stroke-width="2.200"/>',
  people: '<circle cx="9" cy="8.500" r="3.200"/><path d="M3 19c0-3.300 2.600-5.500 6-5.500s6 2.200 6 5.500M15.500 5.700a3 3 0 0 1 0 5.600M17.500 14c2.200.7 3.500 2.500 3.500 5"/>',
  headset: '<path d="M3 9.500A2.500 2.500 0 0 1 5.500 7h13A2.500 2.500 0 0 1 21 9.500v5a2.500 2.500 0 0 1-2.500 2.500h-2.300c-.9 0-1.600-.5-2-1.200l-.8-1.400a1.600 1.600 0 0 0-2.800 0l-.8 1.400c-.4.7-1.100 1.200-2 1.200H5.500A2.500 2.500 0 0 1 3 14.500z"/>',
  ar: '<path d="M4 8V4h4M20 8V4h-4M4 16v4h4M20 16v4h-4"/><path d="m12 7.500 4 2.200v4.600l-4 2.200-4-2.200V9.700z" stroke-linejoin="round"/>',
  clock: '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.500 2"/>',
};

export function icon(name) {
  const holder = document.createElement('template');
  holder.innerHTML = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true">${PATHS[name]}</svg>`;
  return holder.content.firstChild;
}

// el('div.row', { title: 'x' }, child, 'text', ...): strings are text, never markup.
export function el(shape, ...rest) {
  const [tag, ...classes] = shape.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length) element.className = classes.join(' ');
  for (const part of rest) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === 'object') apply(element, part);
    else element.append(String(part));
  }
  return element;
}

function apply(element, properties) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.includes('-') || key === 'role' || key === 'for') element.setAttribute(key, value);
    else element[key] = value;
  }
}

export function button(name, title, onclick, { text = '', shape = 'button.btn', key = '' } = {}) {
  const hint = key ? `${title} (${key})` : title;
  return el(text ? `${shape}.text` : shape, { type: 'button', title: hint, 'aria-label': title, onclick }, name && icon(name), text);
}

export function toggle(label, checked, onchange, key = '') {
  const input = el('input', { type: 'checkbox', checked, onchange: () => onchange(input.checked) });
  const row = el('label.switch', el('span', label), key && el('kbd', key), input);
  row.input = input;
  return row;
}

export function panel(id, title, iconName, { closed = false, flush = false } = {}) {
  const count = el('span.count');
  const body = el(flush ? 'div.body.flush' : 'div.body');
  const heading = el('h2', { tabIndex: 0, role: 'button', onclick: () => toggle(), onkeydown: (event) => (event.key === 'Enter' || event.key === ' ') && (event.preventDefault(), toggle()) }, title, count, el('span.chevron', icon('chevron')));
  const section = el('section.panel', { id: `panel-${id}` }, heading, body);
  const toggle = () => open(section.classList.contains('closed'));
  const open = (isOpen) => {
    section.classList.toggle('closed', !isOpen);
    heading.setAttribute('aria-expanded', isOpen);
    remember(`panel.${id}`, isOpen ? 'open' : 'closed');
    section.dispatchEvent(new Event('toggle'));
  };
  const stored = recall(`panel.${id}`);
  section.classList.toggle('closed', stored ? stored === 'closed' : closed);
  heading.setAttribute('aria-expanded', !section.classList.contains('closed'));
  return { section, body, count, open, id, title, iconName, get isOpen() { return !section.classList.contains('closed'); } };
}

export function menu(anchor, items) {
  document.querySelector('.menu')?.remove();
  const close = () => {
    list.remove();
    document.removeEventListener('pointerdown', outside, true);
  };
  const outside = (event) => list.contains(event.target) || close();
  const list = el('div.menu', { role: 'menu' }, ...items.map(({ label, note, icon: name, selected, run }) =>
    el('button.item', { type: 'button', role: 'menuitem', 'aria-selected': Boolean(selected), onclick: () => (close(), run()) }, name && icon(name), el('span.name', label), note && el('span.note', note))));
  document.body.append(list);
  const box = anchor.getBoundingClientRect(), size = list.getBoundingClientRect();
  list.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
  list.style.top = `${box.top > innerHeight / 2 ? box.top - size.height - 6 : box.bottom + 6}px`;
  document.addEventListener('pointerdown', outside, true);
  list.querySelector('button')?.focus();
  list.addEventListener('keydown', (event) => {
    const items = [...list.children], step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      close();
      anchor.focus();
    } else if (step) items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

export function toast(text, bad = false) {
  const box = document.getElementById('toasts');
  if ([...box.children].some((other) => other.textContent === text)) return;
  while (box.children.length > 3) box.firstChild.remove();
  const item = el(bad ? 'div.toast.bad' : 'div.toast', text);
  box.append(item);
  setTimeout(() => item.remove(), bad ? 7000 : 3200);
}

// Offer a file for download.
export function download(name, blob) {
  const link = el('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function remember(key, value) {
  try {
    localStorage.setItem(`urlab.${key}`, value);
  } catch {
    // storage is disabled: nothing is remembered
  }
}

export function recall(key) {
  try {
    return localStorage.getItem(`urlab.${key}`);
  } catch {
    return null;
  }
}

export const isPhone = () => matchMedia('(max-width: 860px)').matches;

export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e5) return value.toExponential(2);
  return fixed(value, size >= 100 ? Math.min(digits, 1) : size >= 10 ? Math.min(digits, 2) : digits);
}

// Zero has no sign.
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}
