"""The papers' figures, measured again: in simulation, on Spark and over real links."""
