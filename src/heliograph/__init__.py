"""Heliograph: streams of sensor events that fit; what does not is dropped as asked, and counted."""

__version__ = "0.1.0"
