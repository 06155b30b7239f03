"""Plugins for late penalties, as a course may configure them."""

from __future__ import annotations

from nbgrader.plugins import BasePlugin


class PointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600


class Broken(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        raise ZeroDivisionError("no days")
