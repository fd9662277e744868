"""How knowledge is served: configuration, read and write paths, tools, transports, the command line."""
