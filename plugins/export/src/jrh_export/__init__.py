"""Bring runs into MLflow and Weights & Biases."""
