"""Controllers, callables (t, q, v) -> tau, and the open control unit that runs them on a plant at a fixed period."""

from appell.control.adaptive import Adaptive
from appell.control.gains import gains, integral_gains
from appell.control.guard import Safety, Stop
from appell.control.joints import effort_limits
from appell.control.laws import PDGravity, PointToPoint, Tracking
from appell.control.loop import run_loop
from appell.control.metrics import LoopRun
from appell.control.operational import OperationalSpace
from appell.control.plant import Plant, Reading, wait_until
from appell.control.simulated import SimulatedPlant, misjudged
from appell.control.wiring import PUMA600, Wiring

__all__ = [
    "PUMA600",
    "Adaptive",
    "LoopRun",
    "OperationalSpace",
    "PDGravity",
    "Plant",
    "PointToPoint",
    "Reading",
    "Safety",
    "SimulatedPlant",
    "Stop",
    "Tracking",
    "Wiring",
    "effort_limits",
    "gains",
    "integral_gains",
    "misjudged",
    "run_loop",
    "wait_until",
]
