"""The kit that tests of plugins stand on: contracts, fakes, a chat server that misbehaves, and a runner.

Names are loaded on first use, so that the server needs no pytest and the fakes need no server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jrh.testing.building import build as build
    from jrh.testing.building import declarations as declarations
    from jrh.testing.building import find_spec as find_spec
    from jrh.testing.context import FakeContext as FakeContext
    from jrh.testing.context import LogEntry as LogEntry
    from jrh.testing.context import RecordingLog as RecordingLog
    from jrh.testing.contracts.judges import JudgeContract as JudgeContract
    from jrh.testing.contracts.metrics import MetricContract as MetricContract
    from jrh.testing.contracts.models import ModelContract as ModelContract
    from jrh.testing.contracts.parsers import ParserContract as ParserContract
    from jrh.testing.contracts.perturbers import PerturberContract as PerturberContract
    from jrh.testing.contracts.reporters import ReporterContract as ReporterContract
    from jrh.testing.contracts.sources import DataSourceContract as DataSourceContract
    from jrh.testing.contracts.validators import ValidatorContract as ValidatorContract
    from jrh.testing.fakes import Asked as Asked
    from jrh.testing.fakes import EchoJudge as EchoJudge
    from jrh.testing.fakes import LabelParser as LabelParser
    from jrh.testing.fakes import ScriptedModel as ScriptedModel
    from jrh.testing.payloads import PAYLOADS as PAYLOADS
    from jrh.testing.reports import empty_report as empty_report
    from jrh.testing.reports import sample_records as sample_records
    from jrh.testing.reports import sample_report as sample_report
    from jrh.testing.runner import Outcome as Outcome
    from jrh.testing.runner import Project as Project
    from jrh.testing.runner import Running as Running
    from jrh.testing.runner import run_jrh as run_jrh
    from jrh.testing.runner import start_jrh as start_jrh
    from jrh.testing.samples import ODD_TEXTS as ODD_TEXTS
    from jrh.testing.samples import sample_examples as sample_examples
    from jrh.testing.samples import sample_items as sample_items
    from jrh.testing.samples import sample_question as sample_question
    from jrh.testing.samples import sample_task as sample_task
    from jrh.testing.samples import sample_tasks as sample_tasks
    from jrh.testing.samples import sample_truth as sample_truth
    from jrh.testing.samples import with_text as with_text
    from jrh.testing.server.answers import LabelAnswers as LabelAnswers
    from jrh.testing.server.answers import SimulatedAnswers as SimulatedAnswers
    from jrh.testing.server.faults import FAULTS as FAULTS
    from jrh.testing.server.faults import Fault as Fault
    from jrh.testing.server.process import ServerProcess as ServerProcess
    from jrh.testing.server.raw import RawServer as RawServer
    from jrh.testing.server.raw import http_answer as http_answer
    from jrh.testing.server.thread import ChatServer as ChatServer

_PUBLIC = {
    "building": "build declarations find_spec",
    "context": "FakeContext LogEntry RecordingLog",
    "contracts.judges": "JudgeContract",
    "contracts.metrics": "MetricContract",
    "contracts.models": "ModelContract",
    "contracts.parsers": "ParserContract",
    "contracts.perturbers": "PerturberContract",
    "contracts.reporters": "ReporterContract",
    "contracts.sources": "DataSourceContract",
    "contracts.validators": "ValidatorContract",
    "fakes": "Asked EchoJudge LabelParser ScriptedModel",
    "payloads": "PAYLOADS",
    "reports": "empty_report sample_records sample_report",
    "runner": "Outcome Project Running run_jrh start_jrh",
    "samples": (
        "ODD_TEXTS sample_examples sample_items sample_question sample_task sample_tasks sample_truth with_text"
    ),
    "server.answers": "LabelAnswers SimulatedAnswers",
    "server.faults": "FAULTS Fault",
    "server.process": "ServerProcess",
    "server.raw": "RawServer http_answer",
    "server.thread": "ChatServer",
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - a list, made once from the table above


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'jrh.testing' has no attribute '{name}'")
    value = getattr(import_module(f"jrh.testing.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
