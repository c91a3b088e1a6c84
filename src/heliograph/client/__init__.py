"""The client core: senders and receivers, and the session that keeps them attached."""
