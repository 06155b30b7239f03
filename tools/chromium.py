"""Flags that start Chromium, for the browser tests and for pictures of pages."""

#: Chromium's own sandbox refuses to run as root. The other flags stop requests to other hosts.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
