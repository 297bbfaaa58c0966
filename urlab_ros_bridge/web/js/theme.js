// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Before anything is painted: the theme that was chosen, else that of the system.

(() => {
  let chosen = new URLSearchParams(location.search).get('theme');
  try {
    chosen ??= localStorage.getItem('urlab.theme');
  } catch {
    // storage is off: the system's theme it is
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light';
})();
