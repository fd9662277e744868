"""Benchmarks, run by hand through scripts/bench; their tables are committed beside them."""
