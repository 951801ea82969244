"""Side by side with the peers, on the same work, in one run."""
