# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The process that compiles and steps models on trial: it forks for each, and the fork may be killed.

Run as a script, by `trial`; it imports nothing but the standard library and MuJoCo.  A request is
a line of JSON and the files that it lists; the answer is a line of JSON.  The fork can open no
file: it sees nothing outside the request.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from typing import Any
from typing import BinaryIO

STEPS = 10  # that a model is stepped on trial, unless they take too long
MAX_LINE = 1 << 20
_Files = dict[str, dict[str, bytes]]  # group -> {name: content}
_STATE = ('QPOS', 'QVEL', 'QACC')  # what MuJoCo checks in each step
_OUT_OF_MEMORY = ('could not allocate', 'out of memory', 'bad_alloc')


def main() -> None:
    """Answer requests until the other end is closed."""
    sys.path[:] = json.loads(sys.argv[1])
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), 'wb', buffering=0)
    os.dup2(2, 1)
    import mujoco

    _compile(mujoco, {'sizes': {}}, {'xml': {'': b'<mujoco/>'}})  # triggers lazy loading
    _answer(answers, {'ready': True})
    requests = os.fdopen(0, 'rb', buffering=0)
    while line := requests.readline(MAX_LINE):
        request = json.loads(line)
        child = os.fork()
        if not child:
            _child(mujoco, request, requests, answers)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            _answer(answers, {'number': request['number'], 'signal': os.WTERMSIG(status)})
        elif status:
            # It has not read its request to the end, perhaps.
            sys.exit(1)


def _child(mujoco: Any, request: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Try one model, answer, and end."""
    code = 1
    with contextlib.suppress(BaseException):
        files = {
            group: {name: _read(requests, size) for name, size in sizes.items()}
            for group, sizes in request['files'].items()
        }
        _limit(request)
        verdict = _verdict(mujoco, request, files)
        _answer(answers, {'number': request['number'], **verdict})
        code = 0
    os._exit(code)


def _read(requests: BinaryIO, size: int) -> bytes:
    pieces = []
    while size:
        piece = requests.read(min(size, 1 << 24))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b''.join(pieces)


def _limit(request: dict[str, Any]) -> None:
    """Limit the process to no files and a bounded amount of time and memory."""
    os.nice(5)
    cpu = request['cpu']
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (request['memory'], request['memory']))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, request['wall'])


def _verdict(mujoco: Any, request: dict[str, Any], files: _Files) -> dict[str, Any]:
    try:
        return (_step if 'model' in files else _compile)(mujoco, request, files)
    except MemoryError:
        return {'memory': True}
    except Exception as error:
        text = str(error)
        if any(sign in text.lower() for sign in _OUT_OF_MEMORY):
            return {'memory': True}
        return {'refused': text[:10_000] or type(error).__name__}


def _compile(mujoco: Any, request: dict[str, Any], files: _Files) -> dict[str, Any]:
    """Compile `xml`, and return how large the model is."""
    spec = mujoco.MjSpec.from_string(
        files['xml'][''].decode(), include=files.get('parsed'), assets=files.get('compiled')
    )
    model = spec.compile()
    for name in dir(model):
        values: Any = getattr(model, name) if name[:1] != '_' else None
        is_float = hasattr(values, 'dtype') and values.dtype.kind == 'f'
        if is_float and (values != values).any():  # only NaN differs from itself
            raise ValueError(f'{name} of the compiled model has a NaN')
    sizes = {'bytes': mujoco.mj_sizeModel(model)}
    sizes.update({name: int(getattr(model, name)) for name in request['sizes'] if name != 'bytes'})
    if all(sizes[name] <= limit for name, limit in request['sizes'].items()):
        mujoco.mj_forward(model, mujoco.MjData(model))
    return {'sizes': sizes}


def _step(mujoco: Any, request: dict[str, Any], files: _Files) -> dict[str, Any]:
    """Step a compiled model from a state; return the longest step and whether it diverged."""
    import numpy as np

    ((name, content),) = files['model'].items()
    model = mujoco.MjModel.from_binary_path(name, {name: content})
    for option, value in request['options'].items():
        if isinstance(value, list):
            getattr(model.opt, option)[:] = value
        else:
            setattr(model.opt, option, value)
    data = mujoco.MjData(model)
    state = np.frombuffer(files['state'][''])
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    longest, start = 0.0, time.process_time()
    diverged = False
    kinds = [int(getattr(mujoco.mjtWarning, f'mjWARN_BAD{name}')) for name in _STATE]
    for _ in range(STEPS):
        begun = time.process_time()
        mujoco.mj_step(model, data)
        now = time.process_time()
        longest = max(longest, now - begun)
        diverged |= any(data.warning[kind].number for kind in kinds)
        if now - start > request['seconds']:
            break
    return {'seconds': longest, 'diverged': diverged}


def _answer(answers: BinaryIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content).encode() + b'\n')


if __name__ == '__main__':
    main()
