"""Make the small traces of the examples: the same bytes every time.

`traces/pulse.csv` is a patient's monitor: five readings a second, ten minutes, three alarms.
`traces/syslog.jsonl` is what access points log: much of it worthless to a locator (PACK 7).
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "traces"
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
READINGS = 3_000
MESSAGES = 3_000
ALARMS = ((700, 745, 148.0), (1_500, 1_535, 140.0), (2_300, 2_350, 34.0))


def pulse() -> None:
    """Write the monitor of a patient whose pulse wanders, races twice and falls once."""
    rng = random.Random(4)
    rate = 76.0
    lines = ["time,patient,PulseRate,SpO2,moving"]
    for n in range(READINGS):
        alarm = next((target for start, end, target in ALARMS if start <= n < end), None)
        rate += (0.2 if alarm else 0.05) * ((alarm or 76.0) - rate) + rng.gauss(0, 0.9)
        time = (START + timedelta(milliseconds=200 * n)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        oxygen = 97.5 - max(0.0, 50 - rate) / 8 + rng.gauss(0, 0.2)
        moving = "true" if rate > 100 else "false"
        lines.append(f"{time}Z,patient-7,{round(rate)},{oxygen:.1f},{moving}")
    (FOLDER / "pulse.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def syslog() -> None:
    """Write the messages of 40 access points about 300 devices that come, roam and leave."""
    rng = random.Random(5)
    now = START
    with (FOLDER / "syslog.jsonl").open("w", encoding="utf-8") as file:
        for _ in range(MESSAGES):
            now += timedelta(milliseconds=round(rng.expovariate(1 / 90)))
            kind = rng.choices(("Info", "Warning", "Debug"), (90, 6, 4))[0]
            action = rng.choices(
                ("Associated", "Reassociated", "Authenticated", "roamed", "Disassociated",
                 "Deauthenticated", "Expired", "Failed"),
                (20, 12, 26, 16, 8, 9, 6, 3),
            )[0]  # fmt: skip
            point = f"ap-{rng.randrange(40):03}"
            by_point = rng.random() < 0.08
            device = point if by_point else f"host-{int(rng.paretovariate(0.9)) % 300:03}"
            event = {
                "time": now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                "message_type": kind,
                "message": action,
                "host_name": device,
                "action": action,
                "ap_name": point,
            }
            file.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    pulse()
    syslog()
    print(f"made {FOLDER}/pulse.csv and {FOLDER}/syslog.jsonl")
