"""Read what users write: values with line and column, strict conversion to typed options, and words for mistakes.

- `yaml_reader.py`: YAML and JSON files to plain values with positions. Start here, or in `convert.py`.
- `positions.py`: a document, the place of every value in it, and problems that name that place.
- `convert.py`: plain values to typed ones and back, strictly for users and fast for the kernel's own data; `Node` walks
  a document and collects all mistakes at once.
- `decoding.py`: the strict conversion, and its messages. `option_types.py`: the types that options may have.

Not here: what the keys of a suite mean (`jrh.suite`).
"""
