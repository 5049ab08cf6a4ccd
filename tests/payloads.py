"""The injection payloads under the name the tests of the program use."""

from jrh.testing import PAYLOADS

__all__ = ["PAYLOADS"]
