"""Run `jrh` as `python -m jrh`."""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line and no traceback, also during the imports."""
    try:
        _drop_working_directory()
        from jrh.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        from jrh.text import terminal

        terminal.tell("jrh: interrupted")
        sys.exit(130)


def _drop_working_directory() -> None:
    """Take from the import path what `python -m` puts first: what jrh imports must not come from where it is used."""
    # pathlib may not have been imported: it could be a file of the working directory.
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109
        del sys.path[0]


if __name__ == "__main__":
    main()
