"""A Zenoh router: `python zenoh_router.py PORT SETTINGS`, with settings as a JSON object."""

from __future__ import annotations

import json
import sys
import threading

import zenoh


def main() -> None:
    """Route until the process is ended."""
    config = zenoh.Config()
    config.insert_json5("mode", '"router"')
    config.insert_json5("listen/endpoints", json.dumps([f"tcp/127.0.0.1:{sys.argv[1]}"]))
    config.insert_json5("scouting/multicast/enabled", "false")
    for key, value in json.loads(sys.argv[2]).items():
        config.insert_json5(key, json.dumps(value))
    with zenoh.open(config):
        threading.Event().wait()


if __name__ == "__main__":
    main()
