"""What one check found: a value, a verdict, and what usually causes it where something is wrong."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["well", "ill", "counted", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a doctor's report."""

    check: str
    verdict: Verdict
    value: str = ""
    why: str = ""  # what usually causes an illness, or why a check was skipped


def judge(check: str, healthy: bool, value: str, causes: str) -> Finding:
    """Well, or ill with what usually causes it."""
    return Finding(check, "well" if healthy else "ill", value, "" if healthy else causes)


def skip(check: str, why: str) -> Finding:
    """A check that says nothing about this model."""
    return Finding(check, "skipped", "", why)
