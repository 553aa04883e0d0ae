"""``attnspec probe``: what conventions an attention function follows that declares none, found out by experiment."""
