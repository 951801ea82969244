"""What the lectures claim, put to the test: one file a claim. The folder is the ledger that `regard claim` shows."""

from regard.claims.claim import Claim, Finding, Result, Tell, claim, claims, run, save, stored

__all__ = ["Claim", "Finding", "Result", "Tell", "claim", "claims", "run", "save", "stored"]
