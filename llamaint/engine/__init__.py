"""The caller's end of running engines: handles, streams, wake-ups, sharing, forks."""
