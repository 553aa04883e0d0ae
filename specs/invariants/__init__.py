"""The named properties that attention must have, one module a family."""
