"""`make bench-policy`: packing, filters beside Polars and DuckDB, the ladder beside its rival.

python benchmarks/bench_policy.py [--rows N] [--only packing,filters,controllers,check]
"""

from __future__ import annotations

import argparse

from controllers import controllers
from filters import filters
from packing import check, packing
from report import Report

PARTS = {"packing": packing, "filters": filters, "controllers": controllers, "check": check}


def main() -> None:
    """Run the parts that were asked for; all of them are written to the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the long columns")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, comma separated")
    options = parser.parse_args()
    chosen = options.only.split(",")
    report = Report("policy", "Policies: packing, filters, controllers", "make bench-policy")
    for name in chosen:
        PARTS[name](report, options.rows)
    if len(chosen) == len(PARTS):
        report.write()


if __name__ == "__main__":
    main()
