"""`make bench-planet`: the planet beside Mosquitto, nats-server and Zenoh, on loopback.

python benchmarks/bench_planet.py [--only load,users,overload] [--quick]
"""

from __future__ import annotations

import argparse

from effort import QUICK, Effort
from load import load
from overload import overload
from report import Report
from users import users

PARTS = {"load": load, "users": users, "overload": overload}


def main() -> None:
    """Run the parts that were asked for; all of them together are written to the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, comma separated")
    parser.add_argument("--quick", action="store_true", help="short runs, to see that all works")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    report = Report("planet", "The planet beside brokers", "make bench-planet")
    for name in chosen:
        PARTS[name](report, QUICK if options.quick else Effort())
    if len(chosen) == len(PARTS) and not options.quick:
        report.write()


if __name__ == "__main__":
    main()
