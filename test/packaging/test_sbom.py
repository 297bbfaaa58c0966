# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the project says of its dependencies is what its lock files say."""

import json
from pathlib import Path
import re
import sys

from lifelines import run_process
import yaml

import urlab_ros_bridge

ROOT = Path(__file__).resolve().parents[2]
BOM = json.loads((ROOT / 'sbom.cdx.json').read_text())
# Licences that forbid something to users of a package that only needs it at run time.
FORBIDDEN = re.compile(r'AGPL|(?<!L)GPL-|NC-|SSPL|BUSL|NOASSERTION', re.IGNORECASE)


def locked(name):
    return set((ROOT / f'pypi/requirements/{name}.lock').read_text().split('\n')) - {''}


def licence(entry):
    (first,) = entry['licenses']
    return first.get('expression') or first['license'].get('id') or first['license']['name']


def test_both_files_are_up_to_date():
    done = run_process(
        [sys.executable, ROOT / 'pypi/sbom.py', '--check'], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_locked_package_is_listed_once():
    listed = [f'{entry["name"]}=={entry["version"]}' for entry in BOM['components']]
    assert len(listed) == len(set(listed))
    for lock in ('installer', 'jazzy', 'kilted', 'ray', 'robots', 'site', 'test_models'):
        pins = {line for line in locked(lock) if not line.startswith('#')}
        assert pins <= set(listed), lock
        marked = {
            f'{entry["name"]}=={entry["version"]}'
            for entry in BOM['components']
            if {'name': 'urlab:lock', 'value': lock} in entry['properties']
        }
        assert marked == pins


def test_the_document_has_the_form_of_cyclonedx():
    assert (BOM['bomFormat'], BOM['specVersion'], BOM['version']) == ('CycloneDX', '1.6', 1)
    references = [entry['bom-ref'] for entry in BOM['components']]
    assert len(set(references)) == len(references)
    for entry in BOM['components']:
        kind, _, rest = entry['purl'].partition('/')
        assert kind in ('pkg:pypi', 'pkg:npm') and rest.endswith(f'@{entry["version"]}')
        assert entry['scope'] in ('required', 'optional', 'excluded')


def test_nothing_that_runs_has_a_licence_that_binds_its_users():
    runs = [entry for entry in BOM['components'] if entry['scope'] != 'excluded']
    assert len(runs) > 100
    bad = {entry['name']: licence(entry) for entry in runs if FORBIDDEN.search(licence(entry))}
    assert bad == {}


def test_required_is_what_is_imported_everywhere():
    required = {entry['name'] for entry in BOM['components'] if entry['scope'] == 'required'}
    of_rich = {'markdown-it-py', 'mdurl', 'pygments'}
    assert required - of_rich == {
        'msgpack', 'numpy', 'pillow', 'pyyaml', 'pyzmq', 'rich', 'setuptools'
    }  # fmt: skip


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text())
    assert citation['version'] == urlab_ros_bridge.__version__
    assert citation['license'] == 'Apache-2.0' and citation['cff-version'] == '1.2.0'
    assert {'title', 'message', 'authors'} <= set(citation)
