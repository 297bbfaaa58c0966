# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Try the decoders with very many inputs, and print how many: ``make fuzz``.

Each target runs in a process of its own, with a limit of memory and of time for each input.  With
``--atheris`` inputs are guided by coverage (the package atheris, which is not in the environment
otherwise); what is found to be new is then kept in ``--keep``.
"""

from __future__ import annotations

import argparse
import atexit
from collections import Counter
import contextlib
import fcntl
import hashlib
import json
import logging
import math
import os
from pathlib import Path
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback

MEMORY = 6 << 30  # of address space; MuJoCo and NumPy map much of it
SECONDS = 60  # that one input may take; waiting for a processor does not count
SHARED_MEMORY = '/dev/shm'
HERE = Path(__file__).resolve().parent


class TooLong(BaseException):
    """One input has taken too long."""


class Watch:
    """
    Ends an input that takes too long: one that computes, and one that sleeps.

    What is run at the lowest priority may wait for a processor for minutes, and that is no fault.
    """

    def __init__(self) -> None:
        self._began = self._waited = 0.0

    def begin(self) -> None:
        """Begin with an input."""
        self._began, self._waited = time.monotonic(), waited()
        signal.alarm(SECONDS)

    def ring(self, *_: object) -> None:
        """Handle the signal: go on when the input has not had its time."""
        had = time.monotonic() - self._began - (waited() - self._waited)
        if had >= SECONDS - 0.5:
            raise TooLong
        signal.alarm(math.ceil(SECONDS - had))


def waited() -> float:
    """Return for how long this thread has been ready to run and has not (s); 0 if unknown."""
    try:
        with open('/proc/thread-self/schedstat', 'rb') as file:
            return int(file.read().split()[1]) * 1e-9
    except (OSError, IndexError, ValueError):
        return 0.0


def corpus_of(name: str, more: Path | None = None) -> list[bytes]:
    """Return the files of a target's corpus."""
    from fuzz_targets import CORPUS

    folders = [CORPUS / name] + ([more / name] if more else [])
    return [
        path.read_bytes()
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
    ]


def fuzz(
    name: str, count: int, seed: int, faults: Path, limit: float = math.inf
) -> tuple[Counter[str], float]:
    """
    Try one target; return what became of the inputs, and how long it took (s).

    :param limit: s after which no more inputs are tried.

    Inputs that raise something else than was promised are written into `faults`, and counted by
    the name of the error with an exclamation mark.
    """
    from fuzz_targets import TARGETS

    target, outcomes = TARGETS[name], Counter()
    mutator = target.mutator(corpus_of(name), target.words, seed)
    target.begin()
    began = time.perf_counter()
    # The tests' own time limit uses the same timer.
    watch = Watch()
    before, (left, _) = (
        signal.signal(signal.SIGALRM, watch.ring),
        signal.getitimer(signal.ITIMER_REAL),
    )
    for data in mutator.inputs(count):
        watch.begin()
        try:
            outcomes[target.outcome(data)] += 1
        except (Exception, TooLong) as error:
            key = f'{type(error).__name__}!'
            outcomes[key] += 1
            if outcomes[key] <= 3:
                _keep(faults, name, data)
                traceback.print_exc()
        finally:
            signal.alarm(0)
        if time.perf_counter() - began > limit:
            break
    seconds = time.perf_counter() - began
    signal.signal(signal.SIGALRM, before)
    signal.setitimer(signal.ITIMER_REAL, max(left - seconds, 1.0) if left else 0.0)
    return outcomes, seconds


def _keep(faults: Path, name: str, data: bytes) -> None:
    (faults / name).mkdir(parents=True, exist_ok=True)
    path = faults / name / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    print(f'{name}: {path}', file=sys.stderr)


def guided(name: str, count: int, keep: Path, seconds: float) -> None:
    """Try one target by atheris; ends the process, with a fault's code when there is one."""
    import atheris

    with atheris.instrument_imports(include=['urlab_ros_bridge', 'yaml', 'xml']):
        from fuzz_targets import CORPUS
        from fuzz_targets import TARGETS
    target = TARGETS[name]
    for folder in (keep / name, CORPUS / name):
        folder.mkdir(parents=True, exist_ok=True)
    words = keep / f'{name}.dict'
    escaped = (''.join(f'\\x{byte:02x}' for byte in word) for word in target.words)
    words.write_text(''.join(f'"{word}"\n' for word in escaped))
    atheris.Setup(
        [
            name,
            f'-runs={count}',
            '-max_len=4096',
            f'-timeout={SECONDS}',
            *([f'-max_total_time={seconds:.0f}'] if math.isfinite(seconds) else []),
            '-rss_limit_mb=3000',
            '-print_final_stats=1',
            *([f'-dict={words}'] if target.words else []),
            f'-artifact_prefix={keep}/fault-{name}-',
            str(keep / name),
            str(CORPUS / name),
        ],
        target.outcome,
    )
    atheris.Fuzz()


def _files_in_memory() -> None:
    """Have temporary files of this process written where no disk is waited for."""
    if os.access(SHARED_MEMORY, os.W_OK):
        tempfile.tempdir = tempfile.mkdtemp(prefix='urlab-fuzz-', dir=SHARED_MEMORY)
        atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)


def in_a_child(name: str, options: argparse.Namespace, count: int) -> tuple[int, int]:
    """Run one target in a process of its own; return its exit code, and how many it tried."""
    told, report = os.pipe()
    child = os.fork()
    if child:
        os.close(report)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(told, 'rb') as pipe:
            tried = pipe.read(8)
        # Guided by coverage, libFuzzer counts and prints; a process that has died counts nothing.
        unknown = count if options.atheris else 0
        return code, int.from_bytes(tried, 'little') if tried else unknown
    try:
        code = _try_one(name, options, count, report)
    except BaseException:  # what called this goes on in the parent alone
        traceback.print_exc()
        code = 2
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


def _try_one(name: str, options: argparse.Namespace, count: int, report: int) -> int:
    """Try a target in this process; report how many inputs it got, and return the exit code."""
    os.nice(options.nice)
    logging.disable()
    _files_in_memory()
    if options.atheris:
        guided(name, count, options.keep, options.seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes, seconds = fuzz(name, count, options.seed, options.keep, options.seconds)
    count = sum(outcomes.values())
    bad = sum(number for key, number in outcomes.items() if key.endswith('!'))
    words = ', '.join(f'{key} {number:,}' for key, number in outcomes.most_common())
    print(f'{name:20} {count:>9,} inputs {count / seconds:>8,.0f}/s  {words}', flush=True)
    os.write(report, count.to_bytes(8, 'little'))
    return int(bool(bad))


def main() -> int:
    """Run what is asked for; the exit code tells whether anything was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--inputs', type=int, default=100_000, help='of a plain decoder')
    parser.add_argument('--seconds', type=float, default=math.inf, help='for a decoder at most')
    parser.add_argument('--only', nargs='*', default=[], metavar='NAME')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--nice', type=int, default=0)
    parser.add_argument('--atheris', action='store_true', help='guided by coverage')
    parser.add_argument(
        '--tally', metavar='FILE', help='counts inputs; go on until all have --inputs'
    )
    parser.add_argument('--keep', type=Path, default=Path('/tmp/urlab-fuzz'), help='what is found')
    options = parser.parse_args()
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]
    with contextlib.suppress(OSError):
        options.keep.mkdir(parents=True)
    if options.atheris:
        names = options.only  # nothing may be imported yet
    else:
        from fuzz_targets import TARGETS

        names = options.only or list(TARGETS)
    if options.tally:
        return until_the_goal(names, options)
    total, failed = 0, []
    for name in names:
        count = options.inputs
        if not options.atheris:
            count = max(options.inputs // TARGETS[name].cost, 1)
        code, tried = in_a_child(name, options, count)
        if code:
            failed.append(name)
        total += tried
    print(f'{total:,} inputs of {len(names)} decoders; faults: {", ".join(failed) or "none"}')
    return int(bool(failed))


def until_the_goal(names: list[str], options: argparse.Namespace) -> int:
    """
    Try each decoder in turn for `--seconds`, until the tally of all has reached `--inputs`.

    Those that lack the fewest come first.  Every turn has a seed of its own, so no input is made
    twice; the tally can be continued, and others with other decoders may count into it meanwhile.
    """
    path, failed = Path(options.tally), set()
    first = options.seed

    def lacking(name: str) -> int:
        return options.inputs - tally_of(path).get(name, 0)

    while open_names := sorted((name for name in names if lacking(name) > 0), key=lacking):
        for name in open_names:
            options.seed = first * 1_000_003 + tally_of(path).get(name, 0)
            code, tried = in_a_child(name, options, lacking(name))
            if code:
                failed.add(name)
            count_into(path, name, tried)
    print(f'{len(names)} decoders with {options.inputs:,} inputs or more; faults: '
          f'{", ".join(sorted(failed)) or "none"}')  # fmt: skip
    return int(bool(failed))


def tally_of(path: Path) -> dict[str, int]:
    """Return how many inputs each decoder has had."""
    tally: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return tally


def count_into(path: Path, name: str, tried: int) -> None:
    """Add to a tally, which other processes may count into as well."""
    with path.with_name(f'{path.name}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tally = tally_of(path)
        tally[name] = tally.get(name, 0) + tried
        part = path.with_name(f'{path.name}.part')
        part.write_text(json.dumps(tally, indent=1) + '\n')
        part.replace(path)


if __name__ == '__main__':
    sys.exit(main())
