"""What is verified: one file a backend, named after its library and its algorithm."""
