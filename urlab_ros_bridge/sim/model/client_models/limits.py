# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Limits on the size of a model of a client, and on the cost of compiling it."""

from __future__ import annotations

from collections import Counter

from urlab_ros_bridge.sim.errors import OpError

CHARACTERS = 16 << 20  # of one document
DEPTH = 128  # of elements in each other
ELEMENTS = 200_000  # of a document and all that it includes
COPIES = 10_000  # elements that replicate, composite and flexcomp make
GENERATED_VERTICES = 100_000  # of meshes that MuJoCo makes of a resolution (`builtin`)
NAME_CHARACTERS = 256
DOCUMENTS = 64  # files of MJCF that one model is made of
FILES = 2_000  # meshes and so on of one model
FILE_BYTES = 512 << 20  # of one file, and of all files of a model together
PIXELS = 1 << 26  # of a texture

CPU_SECONDS = 20
WALL_SECONDS = 60.0  # for machines that are busy otherwise
MEMORY_BYTES = 4 << 30

# Maximum processor time of a step after a change by a client: a step cannot be interrupted.
STEP_SECONDS = 1.0
STEP_CPU_SECONDS = 5  # after which its trial is aborted
ITERATIONS = 10_000  # of each kind in the solver
LINE_SEARCHES = 500_000  # iterations x ls_iterations
CAMERAS = 64  # of a world to which a client adds one
CAMERA_PIXELS = 1 << 25  # of all of them together: sixteen of 1080p
RAY_TESTS = 400_000_000  # rays of all scanners x geoms; 2.6 ns each

# Size of a compiled model -> (what it is called, limit for one model, limit for a whole world).
SIZES: dict[str, tuple[str, int, int]] = {
    'nbody': ('bodies', 3_000, 20_000),
    'ngeom': ('geoms', 10_000, 40_000),
    'nv': ('degrees of freedom', 3_000, 6_000),
    'nu': ('controls', 3_000, 6_000),
    'ncam': ('cameras', 64, 64),
    'nsensordata': ('sensor values', 100_000, 200_000),
    # A ray of a scanner is tested against each point below it: 4 ns.
    'nhfielddata': ('points of height fields', 1 << 18, 1 << 19),
    'bytes': ('bytes of compiled model', 1 << 30, 2 << 30),
}

# (element, attribute) -> the largest value.
MAXIMA: dict[tuple[str, str], int] = {
    ('texture', 'width'): 1 << 14,
    ('texture', 'height'): 1 << 15,  # the six sides of a cube are stacked
    ('texture', 'nchannel'): 4,
    ('hfield', 'nrow'): 1 << 13,
    ('hfield', 'ncol'): 1 << 13,
    ('global', 'offwidth'): 1 << 14,
    ('global', 'offheight'): 1 << 14,
    ('quality', 'shadowsize'): 1 << 14,
    ('quality', 'offsamples'): 64,
    ('quality', 'numslices'): 1 << 10,
    ('quality', 'numstacks'): 1 << 10,
    ('quality', 'numquads'): 1 << 10,
    ('camera', 'resolution'): 1 << 13,
    ('size', 'memory'): 2 << 30,
    ('size', 'njmax'): 1 << 20,
    ('size', 'nconmax'): 1 << 20,
    ('size', 'nstack'): 1 << 28,
    ('size', 'nuserdata'): 1 << 20,
    ('size', 'nkey'): 10_000,
    **{
        ('size', f'nuser_{kind}'): 1_000
        for kind in ('actuator', 'body', 'cam', 'geom', 'jnt', 'sensor', 'site', 'tendon')
    },
    ('user', 'dim'): 100_000,  # the sensor
    ('numeric', 'size'): 1 << 20,
    ('contact', 'num'): 10_000,
    **{
        ('option', f'{kind}iterations'): ITERATIONS
        for kind in ('', 'ls_', 'noslip_', 'ccd_', 'mpr_', 'sdf_')
    },
    ('option', 'sdf_initpoints'): 10_000,
}


# Sizes of a compiled model, or of several together, by the keys of `SIZES`.
Sizes = Counter[str]


def too_large(what: str, asked: object, limit: object) -> OpError:
    """Return the error of a model that goes beyond a limit."""
    return OpError('import_failed', f'{what}: {asked} requested, at most {limit} are allowed')


def check_total(sizes: Sizes) -> None:
    """
    Check the sizes of a world with all its client models.

    :raises OpError: import_failed.
    """
    for name, (what, _, limit) in SIZES.items():
        if sizes[name] > limit:
            raise too_large(f'{what} of all models together', sizes[name], limit)
