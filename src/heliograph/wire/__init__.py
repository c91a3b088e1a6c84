"""Wire: frames and messages, and the session that survives a connection; all without sockets."""
