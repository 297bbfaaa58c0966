// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Set the theme before the first paint: the user's choice, else that of the system.

(() => {
  let chosen = new URLSearchParams(location.search).get('theme');
  try {
    chosen ??= localStorage.getItem('urlab.theme');
  } catch {
    // storage is disabled: use the theme of the system
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light';
})();
