"""What the gateway knows: the vocabulary, the one cache file, and the search in it.

Nothing here reaches the network, reads configuration or speaks MCP.
"""
