"""What several adapters of one project need, written once."""
