# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A simulation as one program: server and bridge, until SIGINT, SIGTERM or the end of either.

`python -m urlab_ros_bridge.testing.run_simulation '{"world": "rover"}'` prints a line with the
ports when it is ready.
"""

from __future__ import annotations

import json
import signal
import sys
import time

from urlab_ros_bridge.testing.simulation import Simulation
from urlab_ros_bridge.wire.errors import UrlabError

READY = 'urlab simulation ready: '
_POLL_SECONDS = 0.1


def main(argv: list[str]) -> int:
    """
    Run it.

    :param argv: arguments of `Simulation` as a JSON object.
    :return: exit code, 1 when a program does not come up or ends by itself.
    """
    stopped = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.append(True))
    arguments = json.loads(argv[0]) if argv else {}
    try:
        with Simulation(**arguments) as running:
            print(f'{READY}{json.dumps(running.ports)}', flush=True)
            while not stopped:
                running.check()
                time.sleep(_POLL_SECONDS)
    except UrlabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
