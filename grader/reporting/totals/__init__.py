"""Totals over the term: `counting` is the arithmetic, `term` applies it, `sheets` are the files."""
