"""Lets `python -m heliograph.cli` be the `heliograph` command."""

from heliograph.cli import main

main()
