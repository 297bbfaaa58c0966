// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The help dialog of the key ?.

import { button, el, isPhone } from './dom.js';

const PAGES = [
  ['View', [
    [['drag'], 'rotate'], [['right drag'], 'pan'], [['wheel'], 'zoom'],
    [['1'], 'orbit'], [['2'], 'follow a robot'], [['3'], 'view through a camera'], [['F'], 'frame the selection'], [['H'], 'hide or show the panels'],
  ]],
  ['Simulation', [
    [['Backspace'], 'e-stop: stop all robots (in urlab view: reset)'], [['Space'], 'pause or run'], [['.'], 'ten steps'], [['R'], 'reset'], [['K'], 'timeline: look back'],
  ]],
  ['Interaction', [
    [['click'], 'select a body'], [['Shift', 'drag'], 'push a body'], [['drag'], 'a handle: move an arm'], [['Shift', 'drag'], 'a handle: turn its tip'], [['click'], 'a handle: close or open its gripper (G)'], [['Esc'], 'clear the selection, close an image'],
  ]],
  ['Drive', [
    [['W', 'A', 'S', 'D'], 'or arrow keys: drive'], [['Q', 'E'], 'sideways'], [['Shift'], 'full speed'], [['gamepad'], 'left stick: drive, right stick: turn'], [['gamepad'], 'on an arm: move its tip'],
    [['N'], 'Nav2 goal: click the place, then the heading'], [['I'], 'initial pose, likewise'],
  ]],
  ['Show', [
    [['C'], 'contacts and forces'], [['T'], 'trails'], [['X'], 'frames'], [['L'], 'laser scans'], [['B'], 'collision shapes'], [['P'], 'plots'], [['?'], 'this help'],
  ]],
];

const GESTURES = [
  ['View', [[['drag'], 'rotate'], [['two fingers'], 'pan and zoom'], [['tap'], 'select a body']]],
  ['Interaction', [[['Push', 'drag'], 'push a body'], [['drag'], 'a handle: move an arm'], [['Turn', 'drag'], 'a handle: turn its tip'], [['tap'], 'a handle: close or open its gripper']]],
  ['Drive', [[['stick'], 'drive the selected robot'], [['E-stop'], 'stop all robots'], [['Navigate'], 'Nav2 goal: tap the place, then the heading']]],
];

export function showHelp() {
  const dialog = document.getElementById('help');
  if (dialog.open) {
    dialog.close();
    return;
  }
  dialog.replaceChildren(
    el('header', el('h2', isPhone() ? 'Gestures' : 'Mouse and keyboard'), button('close', 'Close', () => dialog.close())),
    el('div.cols', ...(isPhone() ? GESTURES : PAGES).map(([title, rows]) => el('section', el('h3', title), ...rows.map(([keys, text]) =>
      el('p', el('span', ...keys.flatMap((key, index) => [index ? ' ' : '', el('kbd', key)])), el('span', text)))))),
  );
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.showModal();
}
