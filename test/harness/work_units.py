# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What one worker of pytest-xdist does without a break, and what is begun first.

Tests of a file share servers, so a file is one unit of work.  Folders whose files share something
that is dear are one unit, and files whose tests share nothing are one unit a test.
"""

from xdist.scheduler import LoadFileScheduling

# Folders and files as they begin below test/.
WHOLE_FOLDERS = ('config/', 'gateways/virtual_field/page/', 'ros/extras/standard/')
TESTS_APART = ('conformance/test_matrix.py',)
# Units of more than about ten seconds, so that no worker is left alone with one at the end.
LONG = (
    'soak/',
    'integration/',
    'gateways/virtual_field/page/',
    'config/',
    'docs/',
    'conformance/',
    'gateways/chiral/test_simulation_lost.py',
    'gateways/virtual_field/serving/',
    'cli/',
    'launch/',
    'security/',
    'testing/',
    'ros/',
    'gym/',
    'sim/cameras/',
    'sim/streams/test_assets.py',
    'sim/physics/control/twist/test_trot.py',
    'wire/',
)


def rank(path):
    """Return a number by which the tests of a file are sorted: those of long units come first."""
    return next((place for place, start in enumerate(LONG) if path.startswith(start)), len(LONG))


def unit_of(nodeid):
    """Return the name of the unit of work that a test belongs to."""
    file = nodeid.partition('::')[0]
    path = file.removeprefix('test/')
    if path in TESTS_APART:
        return nodeid
    return next((folder for folder in WHOLE_FOLDERS if path.startswith(folder)), file)


class UnitScheduling(LoadFileScheduling):
    """`--dist loadfile` by these units."""

    def _split_scope(self, nodeid):
        return unit_of(nodeid)

    def remove_node(self, node):
        """
        Give the units of a worker that has crashed to the others, but for those that are done.

        A worker that is given one of those has nothing to run, and waits for ever.
        """
        units = self.assigned_work[node]
        for unit in [unit for unit, tests in units.items() if all(tests.values())]:
            del units[unit]
        return super().remove_node(node)

    def _reschedule(self, node):
        """Give a worker units until it has tests enough: it runs one when it knows the next."""
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) <= 2:
            super()._reschedule(node)
