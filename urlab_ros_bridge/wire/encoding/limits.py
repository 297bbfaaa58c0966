# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How much a frame may demand of its decoder."""

from __future__ import annotations

MAX_REQUEST_BYTES = 1 << 20  # a model that is larger travels as a file
MAX_REPLY_BYTES = 1 << 30
MAX_DEPTH = 100  # maps and lists inside each other in a request, in both encodings
MAX_REPLY_DEPTH = 300  # likewise, in a reply
MAX_ITEMS = 1 << 17  # of one list or map in a request
MAX_REPLY_ITEMS = 1 << 22  # likewise, in a reply
# JSON, whose decoder is slower: counted in the text before anything is decoded.
MAX_JSON_VALUES = 1 << 18  # commas and colons
MAX_JSON_CONTAINERS = 1 << 16  # opening brackets
MAX_VECTOR = 1 << 16  # numbers of one list in a request
# JSON of the control stream: a map for each actuator.
GAINS_BYTES = 1 << 16
STREAM_VALUES = 1 << 16
STREAM_CONTAINERS = 1 << 13
