"""What pytest loads wherever attnspec is installed; it imports nothing else of attnspec."""

import attnspec


def pytest_report_header() -> str:
    """One line that says which version does the checking."""
    return f"attnspec: {attnspec.__version__}"
