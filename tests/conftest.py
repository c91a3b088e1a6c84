"""What all tests rely on, however they were started."""

from __future__ import annotations

import signal

# A shell lets what it runs in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
