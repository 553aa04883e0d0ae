"""Plain correct implementations, split into steps for a mutant to replace one."""
