"""What several adapters of one project share: how its models are built, how its arrays are wrapped."""
