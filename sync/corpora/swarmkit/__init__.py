"""A SwarmKit checkout on this machine: its documents, schemas, skills and error codes, and the check of workspaces."""
