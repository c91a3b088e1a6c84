"""Run seeds: `python -m heliograph.sim 17` tells the story of one; `... 1 --count 100` counts."""

from __future__ import annotations

import argparse
import sys

from heliograph.sim.campaign import CampaignError, campaign


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return 1 when a seed fails."""
    parser = argparse.ArgumentParser(
        prog="python -m heliograph.sim", description="Simulated runs of mixed random faults."
    )
    parser.add_argument("seed", type=int, help="the seed to run, or the first of several")
    parser.add_argument("--count", type=int, help="run so many seeds, and print a line for each")
    asked = parser.parse_args(arguments)
    try:
        if asked.count is None:
            sys.stdout.write(f"{campaign(asked.seed, _print)}\n")
        for seed in range(asked.seed, asked.seed + (asked.count or 0)):
            _print(str(campaign(seed)))
    except CampaignError as error:
        sys.stdout.flush()
        sys.stderr.write(f"error: {error}")
        return 1
    return 0


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
