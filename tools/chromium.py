"""How Chromium is started: for the browser tests, and for pictures of pages."""

#: Chromium's own sandbox refuses to run as root; the rest keeps it from asking other hosts.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
