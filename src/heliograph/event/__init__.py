"""Events, blocks, digests and schemas, and their encodings: what travels, and nothing else."""
