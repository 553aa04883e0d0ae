"""This folder is a project of its own: tests/test_pytest_plugin.py copies it elsewhere and runs pytest there."""

collect_ignore = ["test_conformance.py"]
