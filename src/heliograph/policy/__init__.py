"""Policies: what a receiver allows to be dropped, and the pack that drops it (PACK 2, 4, 5)."""
