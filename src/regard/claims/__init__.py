"""What the lectures claim, put to the test: one file a claim. The folder is the list that `regard claim` shows."""

from regard.claims.claim import Claim, Finding, Result, claim, claims, load, run, save

__all__ = ["Claim", "Finding", "Result", "claim", "claims", "load", "run", "save"]
