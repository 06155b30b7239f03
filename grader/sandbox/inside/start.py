"""Starts the warm process: ``python start.py FD SETTINGS``, the settings being JSON.

Python is started so that it looks into no folder of ours (see `grader.sandbox.warm_process`). The
folders that it may import from are told here, and are the same inside the sandbox and outside.
"""

import gc
import json
import sys

if __name__ == "__main__":
    control, settings = int(sys.argv[1]), json.loads(sys.argv[2])
    sys.argv[1:] = []
    sys.path += [folder for folder in settings["path"] if folder not in sys.path]

    gc.disable()  # nothing that is imported is garbage; `main` turns it on again
    from grader.sandbox.inside.zygote import main

    main(control, settings)
