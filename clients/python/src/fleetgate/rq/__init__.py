"""RQ workers that take a slot of a fleet for each job: `rq worker --worker-class fleetgate.rq.GatedWorker render`.

See docs/rq.md.
"""

from __future__ import annotations

try:
    from rq.version import VERSION as _RQ_VERSION
except ModuleNotFoundError as _error:
    raise ImportError("fleetgate.rq needs RQ: pip install 'fleetgate[rq]'") from _error
if int(_RQ_VERSION.split(".")[0]) < 3:
    raise ImportError(f"fleetgate.rq needs RQ 3 or newer, this is {_RQ_VERSION}: pip install 'fleetgate[rq]'")

from .current import current_lease
from .gating import CLASS_IN_META, Gating
from .workers import GatedSimpleWorker, GatedSpawnWorker, GatedWorker

__all__ = [
    "CLASS_IN_META",
    "GatedSimpleWorker",
    "GatedSpawnWorker",
    "GatedWorker",
    "Gating",
    "current_lease",
]
