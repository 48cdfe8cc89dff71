"""Standard output and standard error that are closed, or whose reader goes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a POSIX shell")

# It prints by every way that scripts have, opens a file in between, and ends with a code of its own.
SCRIPT = """
import argparse, logging, sys
from tqdm import tqdm
from training.console.messages import note, say
from training.console.parser import Parser, leave, run_script

def body(options):
    with open(sys.argv[1], "w") as file:
        for _ in range(20):
            say("a line" * 5000, limit=None)
            note("a note")
            logging.getLogger("racer_env").warning("a warning")
            print("a figure", flush=True)
        with tqdm(total=1, disable=False) as bar:
            bar.update()
        file.write("whole")
    return 1

parser = Parser()
parser.add_argument("file")
leave(run_script(body, parser.parse_args()))
"""


@pytest.mark.parametrize(
    ("streams", "unbuffered"),
    [(">&-", ""), ("2>&-", ""), ("<&- >&- 2>&-", ""), ("| head -c 1", ""), ("2>&1 | true", "1")],
)
def test_work_goes_on_and_ends_with_its_own_code(streams: str, unbuffered: str, tmp_path: Path) -> None:
    """And no message goes into a file that is open."""
    file, code = tmp_path / "file", tmp_path / "code"
    command = f'("$0" -c "$1" "{file}"; echo $? > "{code}") {streams}'
    environment = os.environ | {"PYTHONPATH": str(PROJECT_ROOT), "PYTHONUNBUFFERED": unbuffered}
    subprocess.run(["sh", "-c", command, sys.executable, SCRIPT], env=environment, capture_output=True, timeout=30)
    assert code.read_text() == "1\n"
    assert file.read_text() == "whole"
