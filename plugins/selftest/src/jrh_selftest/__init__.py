"""Calibrate the instrument on simulated judges with planted truth: coverage, bias, false alarms, power."""
