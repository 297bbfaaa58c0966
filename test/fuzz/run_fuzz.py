# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Try the decoders on inputs that are guided by coverage (atheris): ``make fuzz``.

Each decoder runs in a process of its own.  Inputs that reach new code are kept for the next run,
inputs that cause a fault as ``fault-NAME-*``, in ``/tmp/urlab-fuzz``.
"""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path
import sys

HERE = Path(__file__).resolve().parent
SECONDS = 60  # that one input may take
MEMORY_MB = 3000
KEPT = Path('/tmp/urlab-fuzz')


def guided(name: str, options: argparse.Namespace) -> None:
    """Run one decoder; this ends the process, with the exit code of libFuzzer."""
    import atheris

    logging.disable()
    sys.path[:0] = [str(HERE), str(HERE.parent / 'harness'), str(HERE.parents[1])]
    sys.path.append(str(HERE.parents[1] / 'examples'))
    ours = ['urlab_ros_bridge', 'simspark_client']
    with atheris.instrument_imports(include=[*ours, 'yaml', 'xml']):
        from fuzz_targets import CORPUS
        from fuzz_targets import TARGETS
    target, found = TARGETS[name], KEPT / name
    found.mkdir(parents=True, exist_ok=True)
    words = KEPT / f'{name}.dict'
    escaped = (''.join(f'\\x{byte:02x}' for byte in word) for word in target.words)
    words.write_text(''.join(f'"{word}"\n' for word in escaped))
    limits = [f'-timeout={SECONDS}', f'-rss_limit_mb={MEMORY_MB}', '-max_len=4096']
    if options.seconds:
        limits.append(f'-max_total_time={options.seconds}')
    places = [f'-artifact_prefix={KEPT}/fault-{name}-']
    if target.words:
        places.append(f'-dict={words}')
    atheris.Setup(
        [name, *limits, *places, '-print_final_stats=1', str(found), str(CORPUS / name)],
        target.outcome,
    )
    atheris.Fuzz()


def main() -> int:
    """Run the chosen decoders one after another; return 1 if any has a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--seconds', type=int, default=60, help='per decoder; 0: no limit')
    parser.add_argument('--only', nargs='*', default=[], metavar='NAME', help='decoders')
    options = parser.parse_args()
    if len(options.only) == 1:
        guided(options.only[0], options)
    names = options.only or sorted(path.name for path in (HERE / 'corpus').iterdir())
    failed = []
    for name in names:
        words = [sys.executable, __file__, f'--seconds={options.seconds}', '--only', name]
        print(f'== {name}', flush=True)
        if os.spawnv(os.P_WAIT, sys.executable, words):
            failed.append(name)
    print(f'{len(names)} decoders; faults: {", ".join(failed) or "none"}')
    return int(bool(failed))


if __name__ == '__main__':
    sys.exit(main())
