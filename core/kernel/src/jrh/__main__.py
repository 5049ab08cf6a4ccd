"""Run `jrh` as `python -m jrh`."""

from jrh.cli import main

main()
