# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import sys

from lifelines import start_process

from urlab_ros_bridge.files.work_folder import work_folder

PROGRAM = """
from pathlib import Path
import sys, time
from urlab_ros_bridge.files.work_folder import work_folder
with work_folder(Path(sys.argv[1]), 'work_') as folder:
    (folder / 'half').touch()
    print(folder, flush=True)
    time.sleep(600)
"""


def test_the_folder_of_a_killed_process_goes_with_the_next_and_that_of_a_live_one_stays(tmp_path):
    (tmp_path / 'other').mkdir()
    command = [sys.executable, '-c', PROGRAM, str(tmp_path)]
    with start_process(command, stdout=subprocess.PIPE, text=True) as process:
        theirs = process.stdout.readline().strip()
        with work_folder(tmp_path, 'work_') as mine:
            assert {path.name for path in tmp_path.iterdir()} >= {mine.name, 'other'}
            assert (tmp_path / theirs / 'half').exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (tmp_path / theirs).exists()
    with work_folder(tmp_path, 'work_') as mine:
        assert {path.name for path in tmp_path.iterdir()} == {mine.name, 'other'}
    assert [path.name for path in tmp_path.iterdir()] == ['other']


def test_a_folder_that_was_renamed_stays(tmp_path):
    with work_folder(tmp_path, 'work_') as folder:
        folder.rename(tmp_path / 'done')
    assert [path.name for path in tmp_path.iterdir()] == ['done']
