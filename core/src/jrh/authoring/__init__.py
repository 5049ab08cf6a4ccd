"""What authors of perturbations build on: text written by a model, edits made by rules, and the checks of both."""
