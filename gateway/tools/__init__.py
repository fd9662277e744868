"""The tools, one file for each toolset: plain functions, schemas and annotations."""
