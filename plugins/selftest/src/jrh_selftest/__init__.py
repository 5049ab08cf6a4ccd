"""The instrument calibrates itself: planted truth in, coverage and false alarms out. Everything here is simulated."""
