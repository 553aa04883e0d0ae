"""Our layers learn: an encoder-decoder trained from nothing on a small translation."""
