"""The whole course in one file to keep: as a PDF for paper, as an EPUB for readers of e-books.

Both are made from the pages of the built book. `pages` reads them and takes away what only a
browser can use, `pdf` and `epub` write the files.
"""
