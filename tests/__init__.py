"""The test suite; `tests.support` holds what several suites share."""
