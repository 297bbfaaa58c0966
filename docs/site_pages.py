# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the site that lie outside of docs/ in the repository."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add CONTRIBUTING.md, with its links as they are from inside docs/."""
    text = (ROOT / 'CONTRIBUTING.md').read_text().replace('](docs/', '](')
    files.append(File.generated(config, 'contributing.md', content=text))
    return files
