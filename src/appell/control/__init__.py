"""Controllers as callables (t, q, v) → τ, and the control loop that runs them on a plant at a fixed period."""

from appell.control.adaptive import Adaptive
from appell.control.gains import gains, integral_gains
from appell.control.loop import LoopRun, Safety, Stop, run_loop
from appell.control.operational import OperationalSpace
from appell.control.plant import PUMA600, Hardware, Plant, Reading, SimulatedPlant, perturbed, wait_until
from appell.simulation.laws.checks import effort_limits
from appell.simulation.laws.joint_laws import PD, PDGravity, PointToPoint, Tracking

__all__ = [
    "PD",
    "PUMA600",
    "Adaptive",
    "Hardware",
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
    "effort_limits",
    "gains",
    "integral_gains",
    "perturbed",
    "run_loop",
    "wait_until",
]
