"""Social cues and style in a response, each against neutral text of the same length: a perturber for jrh."""
