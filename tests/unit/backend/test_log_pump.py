"""Native lines end in `logging`."""

from __future__ import annotations

import logging
import queue
import threading

from llamaint.backend.log_pump import LogPump


class Ring:
    """A native log: a queue that can be woken."""

    def __init__(self):
        self.lines = queue.Queue()

    def drain(self, timeout_s):
        try:
            line = self.lines.get(timeout=timeout_s) if timeout_s else self.lines.get_nowait()
        except queue.Empty:
            return []
        return [] if line is None else [line]

    def wake(self):
        self.lines.put(None)


def test_lines_arrive_with_their_levels_and_stop_ends_the_thread(caplog):
    ring = Ring()
    pump = LogPump(ring.drain, ring.wake)
    with caplog.at_level(logging.DEBUG, logger="llamaint.native"):
        pump.start()
        pump.start()
        assert sum(t.name == "llamaint-log" for t in threading.enumerate()) == 1
        ring.lines.put((logging.WARNING, "a 100% odd line"))
        ring.lines.put((logging.DEBUG, "detail"))
        pump.stop()
        pump.stop()
    lines = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert lines[:1] == [(logging.WARNING, "a 100% odd line")]
    assert not any(t.name == "llamaint-log" for t in threading.enumerate())
