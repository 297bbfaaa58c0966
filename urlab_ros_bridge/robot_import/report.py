# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What an import changes: each repair, omission and guess, logged and kept for the user."""

from __future__ import annotations

from dataclasses import dataclass
import logging

_LOG = logging.getLogger(__name__)
LEFT_OUT, REPAIRED, GUESSED = 'left out', 'repaired', 'guessed'
_LEVELS = {LEFT_OUT: logging.WARNING, REPAIRED: logging.WARNING, GUESSED: logging.INFO}


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One change.

    :ivar part: what it concerns: `link 'NAME'`, `joint 'NAME'`, `sensor 'NAME'`, or the robot.
    :ivar action: `LEFT_OUT`, `REPAIRED` or `GUESSED`.
    :ivar text: the change with its reason.
    """

    part: str
    action: str
    text: str

    def __str__(self) -> str:
        return f'{self.part}: {self.action}: {self.text}'


class ImportReport:
    """
    Collects the findings of one import; each is logged at once.

    :ivar findings: in the order in which they were made.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._counts: dict[str, tuple[int, int]] = {}

    def left_out(self, part: str, text: str) -> None:
        """Record something that the simulation does not have."""
        self._add(Finding(part, LEFT_OUT, text))

    def repaired(self, part: str, text: str) -> None:
        """Record something that differs from the description."""
        self._add(Finding(part, REPAIRED, text))

    def guessed(self, part: str, text: str) -> None:
        """Record a decision that the description leaves open."""
        self._add(Finding(part, GUESSED, text))

    def count(self, what: str, served: int, described: int) -> None:
        """Record how many elements of a kind the simulation has, of those described."""
        self._counts[what] = (served, described)

    def lines(self) -> list[str]:
        """Return the findings part by part, and a summary as the last line."""
        by_part: dict[str, list[str]] = {}
        for finding in self.findings:
            by_part.setdefault(finding.part, []).append(str(finding))
        actions = [finding.action for finding in self.findings]
        made = [f'{actions.count(action)} {action}' for action in (REPAIRED, LEFT_OUT, GUESSED)]
        counts = [f'{served} of {all_} {what}' for what, (served, all_) in self._counts.items()]
        listed = [line for lines in by_part.values() for line in lines]
        return [*listed, ', '.join([*counts, *made])]

    def _add(self, finding: Finding) -> None:
        if finding not in self.findings:
            self.findings.append(finding)
            _LOG.log(_LEVELS[finding.action], '%s', finding)
