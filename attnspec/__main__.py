"""``python -m attnspec`` is ``attnspec``."""

from attnspec.cli import main

main()
