"""The bindings to array libraries, one module each."""
