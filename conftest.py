"""The examples of modules whose package is not installed are not run."""

from __future__ import annotations

import importlib.util

OF_TORCH = ["src/appell/interop/torch.py", "src/appell/interop/torch_rollout.py"]
collect_ignore = [] if importlib.util.find_spec("torch") else OF_TORCH
