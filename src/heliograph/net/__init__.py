"""The socket shell: what drives the cores over real sockets, and the API that people use."""
