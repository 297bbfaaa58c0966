# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The files of the page: those of the folder `web`, and bodies of the world as binary glTF.

Only files that existed at the start are served, by their exact paths, so no path can leave the
folder.
"""

from __future__ import annotations

from collections.abc import Mapping
import gzip
from importlib import resources
from pathlib import Path
import posixpath
import re
from types import MappingProxyType

from urlab_ros_bridge.gateways.serving.websocket_server import HttpAnswer
from urlab_ros_bridge.gateways.virtual_field.gltf import MIME_TYPE

WEB = Path(str(resources.files('urlab_ros_bridge'))) / 'web'
INDEX, WITHOUT_LIBRARIES = 'index.html', 'without_libraries.html'
MAIN = 'js/main.js'
VENDOR = 'vendor'
BODIES = '/bodies/'
_TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.woff2': 'font/woff2',
}
_COMPRESSED = ('.js', '.css')
# Where the modules go in the page, and the static imports of a module; `import(...)` loads later.
_PLACE = re.compile(r'<!-- modules.*?-->', re.DOTALL)
_IMPORT = re.compile(r"""\bfrom\s*["'](\.[^"']+\.js)["']""")
# Only content from this server, so that the name of a body can never become a script.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; connect-src 'self' blob: data: ws: wss:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
_SAFE = (
    ('Content-Security-Policy', _POLICY),
    ('X-Content-Type-Options', 'nosniff'),
    ('Referrer-Policy', 'no-referrer'),
)
_FOREVER = ('Cache-Control', 'public, max-age=31536000, immutable')
_A_DAY = ('Cache-Control', 'public, max-age=86400')
_FRESH = ('Cache-Control', 'no-cache')
_NO_BODIES: Mapping[str, bytes] = MappingProxyType({})
_NOT_FOUND = HttpAnswer(404, 'text/plain; charset=utf-8', b'not found\n', _SAFE)


class PageFiles:
    """
    Answers GET for the page.

    :ivar has_libraries: whether `make web` was run; without it the page says so.
    """

    def __init__(self, folder: Path = WEB) -> None:
        """Read the folder."""
        self._answers: dict[str, HttpAnswer] = {}
        for path in sorted(folder.rglob('*')):
            name = path.relative_to(folder)
            hidden = any(part.startswith('.') for part in name.parts)
            if path.suffix in _TYPES and path.is_file() and not hidden:
                self._answers[f'/{name.as_posix()}'] = _answer(path, name.parts[0] == VENDOR)
        self.has_libraries = f'/{VENDOR}/three/build/three.module.js' in self._answers
        index = self._answers.get(f'/{INDEX if self.has_libraries else WITHOUT_LIBRARIES}')
        if index is not None:
            links = ''.join(
                f'<link rel="modulepreload" href="{name}">' for name in modules(folder, MAIN)
            )
            body = _PLACE.sub(links, index.body.decode()).encode()
            self._answers['/'] = index._replace(body=body)

    def respond(self, path: str, bodies: Mapping[str, bytes] = _NO_BODIES) -> HttpAnswer:
        """
        Answer GET, see `AnswerGet`.

        :param bodies: of the world that is served: digest -> binary glTF.
        """
        if path.startswith(BODIES):
            body = bodies.get(path.removeprefix(BODIES).removesuffix('.glb'))
            if body is not None:
                return HttpAnswer(200, MIME_TYPE, body, (*_SAFE, _FOREVER))
        return self._answers.get(path, _NOT_FOUND)


def modules(folder: Path, first: str) -> list[str]:
    """Return a module and all that it imports, directly or not: paths in the folder."""
    found = [first]
    for name in found:
        path = folder / name
        if path.is_file():
            for target in _IMPORT.findall(path.read_text()):
                other = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
                if other not in found:
                    found.append(other)
    return found


def _answer(path: Path, is_library: bool) -> HttpAnswer:
    content = path.read_bytes()
    headers = [*_SAFE, _A_DAY if is_library else _FRESH]
    if is_library and path.suffix in _COMPRESSED:
        # Only browsers request modules, and all of them support gzip.
        content = gzip.compress(content, 6, mtime=0)
        headers.append(('Content-Encoding', 'gzip'))
    return HttpAnswer(200, _TYPES[path.suffix], content, tuple(headers))


__all__ = ['BODIES', 'WEB', 'PageFiles', 'modules']
