# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The allow-list against the schema of the installed MuJoCo."""

import re

import mujoco

from urlab_ros_bridge.sim.model.client_models import words

_ELEMENT = re.compile(r'\s*(?:\(world\))?([a-z0-9_]+) \([!*?R]\)\s*(.*)')


def schema():
    """Yield (element, attribute) of all that MuJoCo knows; the attribute is '' once for each."""
    element = ''
    for line in mujoco.mj_printSchema(False, False).splitlines():
        found = _ELEMENT.fullmatch(line.rstrip())
        rest = line
        if found:
            element, rest = found.groups()
            yield element, ''
        for attribute in rest.split():
            yield element, attribute


def test_every_element_and_attribute_of_mujoco_is_classified():
    """Fails with a MuJoCo that has something new: see whether it names a file or costs work."""
    known = set(schema())
    assert len(known) > 1000
    assert {element for element, _ in known} <= words.ELEMENTS
    files = set(words.FILES) | {words.MODEL}
    files |= {('compiler', name) for name in words.FOLDERS}
    unknown = {
        pair for pair in known if pair[1] and pair[1] not in words.ATTRIBUTES and pair not in files
    }
    assert not unknown


def test_attributes_that_name_files_are_allowed_per_element():
    named = {pair for pair in schema() if pair[1].startswith('file')}
    assert named and named <= set(words.FILES) | {words.MODEL}
    assert not any('file' in name or 'path' in name for name in words.ATTRIBUTES)
    assert {name for name in words.ATTRIBUTES if name.endswith('dir')} == {'dir'}
