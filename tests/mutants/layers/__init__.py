"""Layer libraries with one planted fault each, most of them from public reports."""
