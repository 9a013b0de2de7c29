"""Checking a rule: is it valid, is it lossless, is it on the Pareto line, and do all array backends agree."""

from specsim.checking.result import CheckResult, as_json, check, meets
from specsim.checking.show import render

__all__ = ["CheckResult", "as_json", "check", "meets", "render"]
