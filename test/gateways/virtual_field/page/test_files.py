# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import gzip

import pytest

from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles


@pytest.fixture
def folder(tmp_path):
    web = tmp_path / 'web'
    for name in ('index.html', 'without_libraries.html', 'js/main.js', 'package.json', '.npmrc'):
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_text(name)
    (tmp_path / 'secret.js').write_text('secret')
    return web


def test_without_libraries_the_page_names_the_command_to_run(folder):
    files = PageFiles(folder)
    assert not files.has_libraries
    assert files.respond('/').body == b'without_libraries.html'
    assert b'make web' in PageFiles().respond('/without_libraries.html').body


def test_with_libraries_the_page_and_they_are_served(folder):
    library = folder / 'vendor/three/build/three.module.js'
    library.parent.mkdir(parents=True)
    library.write_text('export const three = 3;')
    files = PageFiles(folder)
    page = files.respond('/')
    assert "script-src 'self';" in dict(page.headers)['Content-Security-Policy']
    assert (page.status, page.content_type) == (200, 'text/html; charset=utf-8')
    assert page.body == b'index.html'
    library = files.respond('/vendor/three/build/three.module.js')
    assert dict(library.headers)['Content-Encoding'] == 'gzip'
    assert gzip.decompress(library.body) == b'export const three = 3;'


@pytest.mark.parametrize(
    'path',
    [
        '/../secret.js', '/%2e%2e/secret.js', '/js/..%2f..%2fsecret.js', '//etc/passwd',
        '/package.json', '/.npmrc', '/js/', '/bodies/../secret.js', '/\0',
    ],
)  # fmt: skip
def test_nothing_else_is_served(folder, path):
    assert PageFiles(folder).respond(path).status == 404


def test_bodies_are_served_by_their_digest_for_ever(folder):
    files = PageFiles(folder)
    assert files.respond('/bodies/abc.glb').status == 404
    answer = files.respond('/bodies/abc.glb', {'abc': b'glTF'})
    assert (answer.status, answer.content_type, answer.body) == (200, 'model/gltf-binary', b'glTF')
    assert 'immutable' in dict(answer.headers)['Cache-Control']
