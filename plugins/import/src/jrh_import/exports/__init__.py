"""Read the exports of other tools: a description per tool, and one reader.

Start with `reader`: `Kind` says where the parts of a score are, and `Export` reads the entries of a file by it. Each
other module describes one tool as a subclass of `Export`; `values` takes values out of JSON. A new tool needs a
module here and a line in `jrh_import.plugin`.
"""
