"""The planet core: its services, and the streams, clients and lanes that they keep."""
