// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The page that ? shows.

import { button, el } from './dom.js';

const PAGES = [
  ['View', [
    [['drag'], 'turn'], [['right drag'], 'move'], [['wheel'], 'nearer, farther'],
    [['1'], 'look around'], [['2'], 'follow a robot'], [['3'], 'through a camera'], [['F'], 'show what is selected'], [['H'], 'hide the panels'],
  ]],
  ['Simulation', [
    [['Space'], 'pause and run'], [['.'], 'ten steps'], [['R'], 'reset'], [['K'], 'time line: look back'],
  ]],
  ['Hands', [
    [['click'], 'select a body'], [['Shift', 'drag'], 'push a body'], [['drag'], 'a handle: lead an arm'], [['Esc'], 'select nothing'],
  ]],
  ['Drive', [
    [['W', 'A', 'S', 'D'], 'or arrows: drive'], [['Q', 'E'], 'sideways'], [['Shift'], 'as fast as it may'],
  ]],
  ['Show', [
    [['C'], 'contacts and forces'], [['T'], 'trails'], [['X'], 'frames'], [['L'], 'laser scans'], [['B'], 'collision shapes'], [['P'], 'plots'], [['?'], 'this page'],
  ]],
];

export function showHelp() {
  const dialog = document.getElementById('help');
  if (dialog.open) {
    dialog.close();
    return;
  }
  dialog.replaceChildren(
    el('header', el('h2', 'What you can do here'), button('close', 'Close', () => dialog.close())),
    el('div.cols', ...PAGES.map(([title, rows]) => el('section', el('h3', title), ...rows.map(([keys, text]) =>
      el('p', el('span', ...keys.flatMap((key, index) => [index ? ' ' : '', el('kbd', key)])), el('span', text)))))),
  );
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.showModal();
}
