"""Parsers for jrh: from the text of a reply to a label of the scale, or to the status that says why there is none."""
