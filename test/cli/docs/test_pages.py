# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0


from urlab_ros_bridge.cli import docs


def test_the_generated_pages_are_up_to_date():
    assert docs.outdated() == []


def test_no_page_holds_a_path_of_this_machine():
    assert not [name for name, page in docs.PAGES.items() if str(docs.ROOT) in page()]
