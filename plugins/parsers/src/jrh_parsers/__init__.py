"""Parse a reply into a label of the scale, or into a status that says why there is none."""
