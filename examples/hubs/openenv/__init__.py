"""Risk as an OpenEnv environment: reports in words, answered with plans."""

from .client import RiskClient
from .models import RiskAction, RiskObservation

__all__ = ["RiskAction", "RiskClient", "RiskObservation"]
