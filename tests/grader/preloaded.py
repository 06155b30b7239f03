"""What workers of the tests need, whichever test is the first to start the server of workers.

A process has one such server, which imports the module of the first job that is asked for. Later
workers would import what theirs needs, each anew. So the modules of the tests' jobs import this.
"""

import grader.reporting.feedback_page  # noqa: F401
import grader.running.jobs  # noqa: F401
