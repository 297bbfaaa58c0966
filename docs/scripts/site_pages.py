# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the site that lie outside of docs/ in the repository."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Their place in the repository and on the site.
OUTSIDE = {
    'CONTRIBUTING.md': 'contributing.md',
    'SECURITY.md': 'security.md',
    'bench/RESULTS.md': 'results.md',
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere, with their links as they are from inside docs/."""
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text()
        text = text.replace('](../docs/', '](').replace('](docs/', '](')
        text = text.replace('[sbom.cdx.json](sbom.cdx.json)', '`sbom.cdx.json`')
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to such pages lead to where they are on the site."""
    for source, name in OUTSIDE.items():
        markdown = markdown.replace(f'](../../{source}', f'](../{name}')
        markdown = markdown.replace(f'](../{source}', f']({name}')
    return markdown
