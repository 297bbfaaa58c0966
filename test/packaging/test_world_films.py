# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every bundled world has a picture and a film on its page, and does there what the page says."""

import importlib.util
from itertools import pairwise
from pathlib import Path
import re
import sys

import numpy as np
from PIL import Image
import pytest

from urlab_ros_bridge.models import world_names

DOCS = Path(__file__).resolve().parents[2] / 'docs'
IMAGES = DOCS / 'images'
PAGE = (DOCS / 'worlds.md').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def script():
    pytest.importorskip('mink')
    spec = importlib.util.spec_from_file_location(
        'world_films', DOCS / 'scripts' / 'world_films.py'
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules['world_films'] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules['world_films']


@pytest.mark.parametrize('name', world_names())
def test_a_world_has_a_picture_and_a_film(name):
    assert re.search(rf'!\[[^]]+\]\(images/{name}\.jpg\)', PAGE)
    assert re.search(rf'!\[[^]]+\]\(images/film_{name}\.webp\)', PAGE)
    path = IMAGES / f'film_{name}.webp'
    assert path.stat().st_size < 600_000
    with Image.open(path) as film:
        assert film.n_frames >= 40
        shown = []
        for number in (0, film.n_frames // 2, film.n_frames - 1):
            film.seek(number)
            shown.append(np.asarray(film.convert('RGB'), float))
    # Something is to be seen, and it moves.
    assert all(np.std(picture) > 10 for picture in shown)
    assert all(np.abs(one - other).max() > 60 for one, other in pairwise(shown))


def test_there_are_no_films_of_other_worlds_and_all_pictures_are_small():
    films = {path.stem.removeprefix('film_') for path in IMAGES.glob('film_*')}
    assert films == set(world_names())
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < 5_000_000


@pytest.mark.parametrize('name', world_names())
def test_a_film_ends_as_it_should(script, name):
    film = script.FILMS[name]
    assert not film.ended(script.Stage(name, film.keyframe))
    assert film.ended(script.play(film, name))
