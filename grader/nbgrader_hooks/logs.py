"""What nbgrader's commands log, with names of files and ids that cannot control the terminal."""

from __future__ import annotations

import copy
import logging

from tornado.log import LogFormatter

from grader.printable import printable_lines


class PrintableFormatter(LogFormatter):
    """Formats as nbgrader does, after escaping what could move the cursor or hide a text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines, for a record."""
        plain = copy.copy(record)
        plain.msg, plain.args = printable_lines(record.getMessage()), None
        if record.exc_info:
            plain.exc_text = printable_lines(self.formatException(record.exc_info))
        return super().format(plain)
