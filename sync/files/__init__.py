"""Files on this machine: opened so that nothing blocks or escapes, written whole or not at all."""
