"""Bring runs into MLflow, Weights & Biases and Langfuse."""
