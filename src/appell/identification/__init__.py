"""Identification: dynamic parameters from a log.

Read base_parameters.py, then friction.py, problem.py, solve.py and physical.py; identify.py combines them into
a fit.py. prediction.py, validation.py, payload.py and gains.py use a fit.
"""

from appell.identification.base_parameters import BaseParameters, base_parameters
from appell.identification.fit import Fit
from appell.identification.gains import drive_gains
from appell.identification.validation import cross_validate, residuals
from appell.logs.log import Log
from appell.logs.prepare import prepare

__all__ = ["BaseParameters", "Fit", "Log", "base_parameters", "cross_validate", "drive_gains", "prepare", "residuals"]
