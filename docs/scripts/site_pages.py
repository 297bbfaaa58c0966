# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the site that lie outside of docs/ in the repository."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages that lie in the root, with their links as they are from inside docs/."""
    for name in ('CONTRIBUTING', 'SECURITY'):
        text = (ROOT / f'{name}.md').read_text().replace('](docs/', '](')
        text = text.replace('[sbom.cdx.json](sbom.cdx.json)', '`sbom.cdx.json`')
        files.append(File.generated(config, f'{name.lower()}.md', content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to such pages lead to where they are on the site."""
    return markdown.replace('](../../SECURITY.md', '](../security.md').replace(
        '](../SECURITY.md', '](security.md'
    )
