"""Simulated judges and models: planted defects of known size, to calibrate the instrument with."""
