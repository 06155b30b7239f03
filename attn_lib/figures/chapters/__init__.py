"""The figures; each module has those of a chapter or of a part of one."""
