"""The table of targets."""

from __future__ import annotations

from tests.fuzz.calls import CALLS
from tests.fuzz.commands import COMMANDS
from tests.fuzz.files import FILES
from tests.fuzz.verbs import VERBS

TARGETS = {target.name: target for target in (*FILES, *VERBS, *CALLS, *COMMANDS)}
