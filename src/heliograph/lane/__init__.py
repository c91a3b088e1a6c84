"""Lanes: the one kind of queue, how lanes of a link are drained, and who accounts for what."""
