# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from urlab_ros_bridge.cli.checks import Finding
from urlab_ros_bridge.cli.checks import run_python
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.checks import worst


def test_the_last_line_of_a_program_that_works():
    assert run_python('print(1)\nimport os; print(os.environ["A"])', {'A': 'b'}) == (True, 'b')


def test_a_program_that_fails_crashes_or_hangs_is_told_apart():
    assert run_python('import no_such_module') == (
        False,
        "ModuleNotFoundError: No module named 'no_such_module'",
    )
    assert run_python('import os; os.abort()') == (False, 'crashed with signal 6')
    works, said = run_python('import time; time.sleep(60)', timeout=0.3)
    assert not works and 'no result within 0.3 s' in said


def test_the_worst_level_counts():
    def findings(*levels):
        return [Finding(level, 'subject', 'found') for level in levels]

    assert worst([]) is Severity.OK
    assert worst(findings(Severity.OK, Severity.FAIL, Severity.WARN)) is Severity.FAIL
    assert worst(findings(Severity.WARN, Severity.OK)) is Severity.WARN
