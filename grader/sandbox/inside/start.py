"""Starts the warm process: ``python start.py FD SETTINGS``, with the settings as JSON.

`grader.sandbox.sandbox` starts Python so that it adds no folders to its import path. The
settings list the folders to import from, which are the same inside the sandbox and outside.
"""

import gc
import json
import sys

if __name__ == "__main__":
    control, settings = int(sys.argv[1]), json.loads(sys.argv[2])
    sys.argv[1:] = sys.orig_argv[1:] = []
    sys.path += [folder for folder in settings["path"] if folder not in sys.path]

    gc.disable()  # imports make no garbage; `main` enables it again
    from grader.sandbox.inside.warm_process import main

    main(control, settings)
