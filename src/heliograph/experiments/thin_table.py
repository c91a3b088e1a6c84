"""The table of a thin link: what PACK's Figure 8 says, beside what our queues did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.experiments.findings import READ_OFF, Row
from heliograph.experiments.transit import mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heliograph.experiments.transit import Transit

GOODPUT_LEAST: Final = 0.98
EXCESS_MOST: Final = 0.02
LATENCY_MOST: Final = {"ladder": 0.65, "aim": 0.5}
# A request waits for what is under way before it, a fifth of a second, and a round trip.
ANSWER_MOST: Final = 1.0
# A planet that heard nothing for three heartbeats would count the client as detached.
SILENCE_MOST: Final = 2.0
BEYOND_MOST: Final = 8_192
_LEVEL: Final = 2


@dataclass(frozen=True)
class Prompt:
    """How prompt a link stays beside its data, and what a receiver finds that stopped reading."""

    answers: list[float]  # Seconds from a request to its answer.
    silence: float  # The longest time in which nothing came, in seconds.
    beyond: int  # Bytes beyond the policy's reach when reading had stopped.
    unanswered: int = 0


def rows(runs: Mapping[str, Sequence[Transit]], prompt: Prompt) -> list[Row]:
    """Return the table of all queues, the first of which drops at its tail."""
    tail = next(iter(runs))
    base = mean_of(runs[tail], "latency")
    spread = float(np.mean([np.std(one.latencies()) for one in runs[tail]]))
    found = [
        Row("DropTail: loss", "about 30 %", _percent(mean_of(runs[tail], "loss"))),
        Row("DropTail: mean latency", "constant, of a full queue",
            f"{base:.2f} s, deviation {spread:.2f} s", "deviation under a tenth",
            spread < base / 10),
    ]  # fmt: skip
    for name, transits in runs.items():
        if name != tail:
            found += _policy(name, transits, base)
    for name, transits in runs.items():
        share = mean_of(transits, "share")
        found.append(
            Row(f"{name}: goodput of bulk TCP's", "", _percent(share), "at least 98 %",
                share >= GOODPUT_LEAST)
        )  # fmt: skip
    missing = sum(abs(one.missing) for transits in runs.values() for one in transits)
    found.append(
        Row("events neither delivered nor counted", "", f"{missing:,}", "none", not missing)
    )
    return [*found, *_prompt(prompt)]


def _policy(name: str, transits: Sequence[Transit], base: float) -> list[Row]:
    controller = name.partition(",")[0]
    latency = mean_of(transits, "latency")
    most = LATENCY_MOST[controller]
    levels = sum((one.levels() for one in transits), Counter[int]())
    packs = max(1, sum(levels.values()))
    parts = [part for one in transits for part in one.parts(_LEVEL)]
    taken = f"{np.mean(parts):.3f}" if parts else "no pack at it"
    used = ", ".join(f"{level}: {_percent(levels[level] / packs)}" for level in sorted(levels))
    excess, told = mean_of(transits, "excess"), mean_of(transits, "told")
    # A digest for each run is what the papers do; its bytes are theirs, not the controller's.
    allowed = EXCESS_MOST + (told if name.endswith("a run") else 0.0)
    goal = "at most 2 points" + (" and its digests" if name.endswith("a run") else "")
    return [
        Row(f"{name}: mean latency", f"lower than DropTail's {READ_OFF}",
            f"{latency:.2f} s, {latency / base:.2f} of DropTail's", f"at most {most}",
            latency <= most * base),
        Row(f"{name}: packs at each level", "most at level 2", used),
        Row(f"{name}: taken at level 2", "0.325", taken),
        Row(f"{name}: loss", "about 30 %", _percent(mean_of(transits, "loss"))),
        Row(f"{name}: loss above 1 - goodput/offered", "",
            f"{excess * 100:.1f} points, digests {told * 100:.1f}", goal, excess <= allowed),
    ]  # fmt: skip


def _prompt(prompt: Prompt) -> list[Row]:
    middle, longest = float(np.median(prompt.answers)), max(prompt.answers)
    return [
        Row("request to answer, beside the stream", "",
            f"median {middle:.2f} s, longest {longest:.2f} s", f"at most {ANSWER_MOST:g} s",
            longest <= ANSWER_MOST and not prompt.unanswered),
        Row("longest silence of either side", "", f"{prompt.silence:.2f} s",
            f"at most {SILENCE_MOST:g} s, a heartbeat", prompt.silence <= SILENCE_MOST),
        Row("stale bytes when a receiver stops reading", "", f"{prompt.beyond:,}",
            f"at most {BEYOND_MOST:,}", prompt.beyond <= BEYOND_MOST),
    ]  # fmt: skip


def _percent(part: float) -> str:
    return f"{part * 100:.1f} %"
