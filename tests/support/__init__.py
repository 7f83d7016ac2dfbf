"""What several test suites share: tiny models, servers, subprocesses."""
