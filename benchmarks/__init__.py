"""How fast, and in how much memory: every backend on every workload."""
