"""The verbs of the command line, one file for each; ``gateway.cli`` assembles them."""
