from __future__ import annotations

from heliograph.event.digest import Digest, Part
from heliograph.event.event import Position
from heliograph.policy.merge import absorb, merge


def test_a_digest_from_upstream_goes_on_where_the_lane_has_settled() -> None:
    """Here 1 to 14 are settled, though upstream the digest before this one reached to 13."""
    _, digest = absorb((), Digest("s", 1, 13, 18, 4), Position(1, 14))
    assert (digest.after, digest.upto, digest.count) == (14, 18, 4)


def test_what_was_pending_joins_the_digest_that_it_waited_for() -> None:
    held, other = Digest("s", 1, 3, 9, 2), Digest("s", 2, 3, 9, 5)
    left, whole = absorb((other, held), Digest("s", 1, 2, 8, 4), Position(1, 2))
    assert left == (other,)
    assert (whole.after, whole.upto, whole.count) == (2, 8, 6)


def test_two_digests_become_one() -> None:
    one = Digest("s", 1, 0, 5, 2, 1, 10, 20, (Part("MAX", "a", 2, 7),))
    other = Digest("s", 1, 5, 9, 1, 0, 5, 15, (Part("MAX", "a", 1, 9),))
    both = Digest("s", 1, 0, 9, 3, 1, 5, 20, (Part("MAX", "a", 3, 9),))
    assert merge(one, other) == merge(other, one) == both
    nothing = Digest("s", 1, 0, 0, 0, 4)
    assert merge(one, nothing) == Digest("s", 1, 0, 5, 2, 5, 10, 20, one.parts)
