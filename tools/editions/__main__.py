"""Write the course as a PDF or an EPUB, as the name of the file says.

python -m tools.editions _build/html course.pdf
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.editions.epub import write_course
from tools.editions.pages import EditionError, read_course
from tools.editions.pdf import print_course
from tools.editions.texts import read_texts

ROOT = Path(__file__).resolve().parents[2]
WRITERS = {".epub": write_course, ".pdf": print_course}


def main(arguments: list[str] | None = None) -> int:
    """Write the file and say how large it is; return 1 if that cannot be done."""
    assert __doc__
    parser = argparse.ArgumentParser(
        "python -m tools.editions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("html", type=Path, help="the folder with the built book")
    parser.add_argument("file", type=Path, help="the file to write: *.pdf or *.epub")
    options = parser.parse_args(arguments)
    write = WRITERS.get(options.file.suffix)
    if write is None:
        parser.error(f"expected a file that ends in .pdf or .epub, got {options.file}")
    try:
        course = read_course(options.html, ROOT / "_toc.yml")
        length = write(course, options.html, read_texts(ROOT), options.file)
    except EditionError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.file}: {length}, {options.file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
