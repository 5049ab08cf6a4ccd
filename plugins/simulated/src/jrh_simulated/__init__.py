"""Simulate judges and models with planted defects of known size, to calibrate the instrument."""
