"""The formulations of every row of the table of verbs, for any kind of robot."""

from appell.robot.verbs.derivatives import DERIVATIVES, GRADIENTS
from appell.robot.verbs.programs import PROGRAMS
from appell.robot.verbs.steps import STEPS
from appell.robot.verbs.table import VERBS

_OWN = {**PROGRAMS, **DERIVATIVES, **GRADIENTS, **STEPS}
FORMULATIONS = {verb: _OWN[verb.removesuffix("_loaded").removesuffix("_weighted")] for verb in VERBS}
"""Per verb its algorithms by name; verbs "…_loaded" and "…_weighted" have those of the verb."""
