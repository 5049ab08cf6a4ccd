"""Run `jrh` as `python -m jrh`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line and no traceback, also during the imports."""
    try:
        from jrh.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        from jrh.text import terminal

        terminal.tell("jrh: interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
