"""Python's garbage collector while the server starts, and afterwards."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc, weakref
from app.cli.serve import settle

class Ring:
    def __init__(self):
        self.itself = self

gc.disable()
settle()
gone = []
for _ in range(3):
    weakref.finalize(Ring(), gone.append, 1)
for _ in range(200_000):
    [[]]
keep = [[] for _ in range(200_000)]
print(gc.isenabled(), gc.get_freeze_count() > 10_000, len(gone))
"""


def test_the_collector_works_again_once_all_is_there() -> None:
    """What was there is put aside for good; what becomes garbage from then on is collected without being asked."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "True", "3"]
