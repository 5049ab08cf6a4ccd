"""Test the contract of every kind of component: classes that a plugin's tests subclass."""
