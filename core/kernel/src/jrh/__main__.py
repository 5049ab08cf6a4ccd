"""Run `jrh` as `python -m jrh`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during its imports is no traceback either."""
    try:
        from jrh.cli import main as command_line
    except KeyboardInterrupt:
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
