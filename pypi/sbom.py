# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Write what the project is made of: sbom.cdx.json (CycloneDX 1.6) and licences in dependencies.md.

Packages and versions come from the lock files alone, so both files change with them and with
nothing else.  Lock files name no licences: these come from the metadata of the environment that
runs this, and for packages that it does not hold from the file as it was.  With --check nothing is
written, and the exit code tells whether both files are up to date.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib import metadata
import json
from pathlib import Path
import re
import sys
from typing import Any
import xml.etree.ElementTree as ElementTree

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / 'sbom.cdx.json'
PAGE = ROOT / 'docs' / 'dependencies.md'
MARK = '<!-- The table is made by pypi/sbom.py from the lock files. -->\n'
NAMED = 5  # packages of one licence that the page names; it counts larger groups
LOCKS = ('installer', 'jazzy', 'kilted', 'ray', 'robots', 'site', 'test_models')
NPM_LOCK = ROOT / 'urlab_ros_bridge' / 'web' / 'package-lock.json'
REQUIRED, OPTIONAL, EXCLUDED = 'required', 'optional', 'excluded'
SCOPES = (REQUIRED, OPTIONAL, EXCLUDED)
UNKNOWN = 'NOASSERTION'
BSD = 'BSD, variant not stated'
_SPDX_ID = re.compile(r'[A-Za-z0-9.+-]+')
# Texts of metadata that are no SPDX identifiers -> their identifier.
_SPDX = {
    'Apache License, Version 2.0': 'Apache-2.0',
    'Apache License 2.0': 'Apache-2.0',
    'Apache Software License': 'Apache-2.0',
    'Apache 2.0': 'Apache-2.0',
    'BSD 2-Clause License': 'BSD-2-Clause',
    'BSD': BSD,
    'BSD License': BSD,
    'BSD License 2.0': BSD,
    '3-Clause BSD License': 'BSD-3-Clause',
    'MIT License': 'MIT',
    'Mozilla Public License 2.0 (MPL 2.0)': 'MPL-2.0',
    'GNU Lesser General Public License v3 (LGPLv3)': 'LGPL-3.0-only',
    'Python Software Foundation License': 'PSF-2.0',
    'zlib': 'Zlib',
    'zlib License': 'Zlib',
}
# Where metadata say nothing that can be used, or too little: read in the package itself.
_READ = {
    'apsw': 'Zlib',
    'catkin-pkg': 'BSD-3-Clause',
    'colorama': 'BSD-3-Clause',
    'jinja2': 'BSD-3-Clause',
    'docutils': 'CC-PDDC AND BSD-2-Clause AND GPL-3.0-or-later',
    'empy': 'LGPL-2.1-or-later',
    'setuptools': 'MIT',
    'uv': 'Apache-2.0 OR MIT',
    'cyclonedds': 'EPL-2.0 OR BSD-3-Clause',
    'lxml': 'BSD-3-Clause',
    'lz4': 'BSD-3-Clause',
    'notify2': 'BSD-2-Clause',
    'pyopengl': 'BSD-3-Clause',
    'xacro': 'BSD-3-Clause',
    'pycollada': 'BSD-3-Clause',
    'cmeel-qhull': 'Qhull',
    'scipy': 'BSD-3-Clause',
    'ros-ament-cmake-ros-core': 'Apache-2.0',
    'ros-kilted-ament-cmake-ros-core': 'Apache-2.0',
    'ros-fastcdr': 'Apache-2.0',
    'ros-fastdds': 'Apache-2.0',
    'ros-fastrtps': 'Apache-2.0',
    'ros-rmw-security-common': 'Apache-2.0',
}


def locked(name: str) -> list[tuple[str, str]]:
    """Return (package, version) of a lock file."""
    text = (ROOT / 'pypi' / 'requirements' / f'{name}.lock').read_text(encoding='utf-8')
    rows = (line.partition('==') for line in text.splitlines())
    return [(package, version) for package, sign, version in rows if sign and package[0] != '#']


def canonical(name: str) -> str:
    """Return the one spelling of a package's name (PEP 503)."""
    return re.sub(r'[-_.]+', '-', name).lower()


def of_ros(name: str) -> str:
    """Return the licence in the package.xml that a wheel of ROS brings, or empty."""
    short = re.sub(r'^ros-((jazzy|kilted)-)?', '', name).replace('-', '_')
    for prefix in (Path(sys.prefix), *map(Path, sys.path)):
        path = prefix / 'share' / short / 'package.xml'
        if path.is_file():
            texts = [each.text or '' for each in ElementTree.parse(path).iter('license')]
            return ' AND '.join(dict.fromkeys(_SPDX.get(text, text) for text in texts))
    return ''


def licence_of(name: str) -> str:
    """Return the licence of an installed package as an SPDX expression, or empty."""
    if canonical(name) in _READ:
        return _READ[canonical(name)]
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return of_ros(name) if name.startswith('ros-') else ''
    expression = found.get('License-Expression')
    if expression:
        return str(expression)
    text = str(found.get('License') or '').strip()
    if text in _SPDX or re.fullmatch(r'(Apache|BSD|MIT|MPL|PSF)(-[0-9A-Za-z.]+)*', text):
        return _SPDX.get(text, text)
    words = [line.rpartition(' :: ')[2] for line in found.get_all('Classifier') or []
             if line.startswith('License :: OSI')]  # fmt: skip
    known = [_SPDX[word] for word in words if word in _SPDX]
    return known[0] if known else of_ros(name)


def closure(names: Iterable[str]) -> set[str]:
    """Return packages with all that they need, as far as they are installed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonical(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for need in (need for need in needs if 'extra ==' not in need):
            # An extra is often called after the package that it brings.
            waiting += re.findall(r'[A-Za-z0-9_.-]+', re.match(r'[\w.-]+(\[[^]]*])?', need)[0])
    return found


def declared() -> tuple[set[str], set[str]]:
    """Return what setup.py needs, and what its extras need, each with all that it needs itself."""
    text = (ROOT / 'setup.py').read_text(encoding='utf-8')
    body = text[text.index('install_requires=') :]
    needed, _, extras = body.partition('extras_require=')
    extras = extras[: extras.index("'test'")]
    return closure(re.findall(r"'([A-Za-z][\w-]*)", needed)), closure(
        re.findall(r"'([A-Za-z][\w-]*)>=", extras)
    )


def component(name: str, version: str, kind: str, licence: str, scope: str) -> dict[str, Any]:
    """Return one component."""
    path = name.replace('@', '%40')
    purl = f'pkg:{kind}/{path}@{version}'
    if not licence or licence == UNKNOWN:
        licences: list[dict[str, Any]] = [{'license': {'name': UNKNOWN}}]
    elif _SPDX_ID.fullmatch(licence):
        licences = [{'license': {'id': licence}}]
    elif re.fullmatch(r'[A-Za-z0-9.+() -]+', licence) and re.search(r' (AND|OR|WITH) ', licence):
        licences = [{'expression': licence}]
    else:
        licences = [{'license': {'name': licence}}]
    return {
        'type': 'library', 'bom-ref': purl, 'name': name, 'version': version, 'scope': scope,
        'licenses': licences, 'purl': purl, 'properties': [],
    }  # fmt: skip


def licence_text(entry: dict[str, Any]) -> str:
    """Return the licence of a component as a text."""
    first = entry['licenses'][0]
    return str(first.get('expression') or first['license'].get('id') or first['license']['name'])


def before() -> dict[str, dict[str, Any]]:
    """Return the components of the file as it is, by name."""
    if not TARGET.exists():
        return {}
    entries = json.loads(TARGET.read_text(encoding='utf-8'))['components']
    return {entry['name']: entry for entry in entries}


def components() -> list[dict[str, Any]]:
    """Return everything, in alphabetical order."""
    old, found = before(), {}
    required, optional = declared()
    for lock in LOCKS:
        for name, version in locked(lock):
            if f'{name}@{version}' not in found:
                known = old.get(name)
                licence = licence_of(name) or (licence_text(known) if known else '')
                plain = canonical(name)
                scope = REQUIRED if plain in required else EXCLUDED
                if scope == EXCLUDED and (plain in optional or plain.startswith('ros-')):
                    scope = OPTIONAL
                if scope == EXCLUDED and known:
                    scope = known['scope']  # what it belongs to may be known elsewhere only
                found[f'{name}@{version}'] = component(name, version, 'pypi', licence, scope)
            mark(found[f'{name}@{version}'], lock)
    for place, package in json.loads(NPM_LOCK.read_text(encoding='utf-8'))['packages'].items():
        if place:
            name = place.removeprefix('node_modules/')
            entry = component(name, package['version'], 'npm', package['license'], OPTIONAL)
            found[f'npm {name}'] = entry
            mark(entry, 'browser page')
    return sorted(found.values(), key=lambda entry: (entry['name'], entry['version']))


def mark(entry: dict[str, Any], lock: str) -> None:
    """Note which lock file names a component."""
    entry['properties'].append({'name': 'urlab:lock', 'value': lock})


def document(entries: list[dict[str, Any]]) -> str:
    """Return the bill of materials."""
    text = (ROOT / 'setup.py').read_text(encoding='utf-8')
    version = re.search(r"version='([^']+)'", text)
    own = {
        'type': 'application', 'bom-ref': 'urlab_ros_bridge', 'name': 'urlab_ros_bridge',
        'version': version[1] if version else '', 'licenses': [{'license': {'id': 'Apache-2.0'}}],
    }  # fmt: skip
    bom = {
        '$schema': 'http://cyclonedx.org/schema/bom-1.6.schema.json',
        'bomFormat': 'CycloneDX', 'specVersion': '1.6', 'version': 1,
        'metadata': {'component': own}, 'components': entries,
    }  # fmt: skip
    return json.dumps(bom, indent=1) + '\n'


def page(entries: list[dict[str, Any]]) -> str:
    """Return the page of dependencies: written by hand, but for the table of licences."""
    groups: dict[str, dict[str, set[str]]] = {}
    for entry in entries:
        licence = groups.setdefault(licence_text(entry), {})
        licence.setdefault(entry['scope'], set()).add(entry['name'])
    lines = [
        f'| Licence | {" | ".join(SCOPES)} |',
        '|---|---|---|---|',
        *(
            f'| {licence} | {" | ".join(packages(scopes.get(scope)) for scope in SCOPES)} |'
            for licence, scopes in sorted(groups.items())
        ),
    ]
    written = PAGE.read_text(encoding='utf-8').partition(MARK)[0]
    return f'{written}{MARK}\n' + '\n'.join(lines) + '\n'


def packages(names: set[str] | None) -> str:
    """Return the names of a few packages, the number of many."""
    if names and len(names) > NAMED:
        return f'{len(names)} packages'
    return ', '.join(sorted(names or ()))


def main() -> int:
    """Write or check both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--check', action='store_true', help='write nothing')
    options = parser.parse_args()
    entries = components()
    stale = []
    for path, text in ((TARGET, document(entries)), (PAGE, page(entries))):
        if path.exists() and path.read_text(encoding='utf-8') == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not options.check:
            path.write_text(text, encoding='utf-8')
    if options.check:
        print(*(f'{path} is out of date: run `make sbom`' for path in stale), sep='\n')
        return int(bool(stale))
    unknown = [entry['name'] for entry in entries if licence_text(entry) == UNKNOWN]
    print(f'{len(entries)} components; no licence known of {", ".join(unknown) or "none"}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
