"""Attention as others wrote it: one file a configuration, named after its project, mostly declaration.

Each needs its project's package, and each project is an extra: ``pip install 'attnspec[flax]'``.
"""
