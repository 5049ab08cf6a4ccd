"""Stress-test LLM judges: run a suite, read its records and measures, or write a plugin.

Everything public is importable from here, except the statistics (`jrh.stats`) and the test kit (`jrh.testing`). Names
are loaded on first use, so that importing `jrh` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jrh.authoring.asking import Answer as Answer
    from jrh.authoring.asking import ask_until_read as ask_until_read
    from jrh.authoring.checks import Checks as Checks
    from jrh.authoring.checks import texts_of as texts_of
    from jrh.authoring.choices import WrittenBy as WrittenBy
    from jrh.authoring.choices import distinct as distinct
    from jrh.authoring.edits import Edit as Edit
    from jrh.authoring.edits import apply_edits as apply_edits
    from jrh.authoring.edits import edits_apart as edits_apart
    from jrh.authoring.edits import edits_at as edits_at
    from jrh.authoring.generation import Generated as Generated
    from jrh.authoring.generation import TextWriter as TextWriter
    from jrh.authoring.generation import text_schema as text_schema
    from jrh.authoring.languages import other_language as other_language
    from jrh.authoring.texts import LONGEST_TEXT as LONGEST_TEXT
    from jrh.authoring.texts import PROVIDER_ERROR as PROVIDER_ERROR
    from jrh.authoring.texts import Unusable as Unusable
    from jrh.authoring.texts import Written as Written
    from jrh.authoring.texts import no_text as no_text
    from jrh.authoring.texts import read_text as read_text
    from jrh.authoring.wording import APOSTROPHE as APOSTROPHE
    from jrh.authoring.wording import Protected as Protected
    from jrh.authoring.wording import WordingRule as WordingRule
    from jrh.authoring.wording import length_ratio as length_ratio
    from jrh.authoring.wording import not_after as not_after
    from jrh.authoring.wording import phrase_rule as phrase_rule
    from jrh.authoring.wording import safe_edits as safe_edits
    from jrh.authoring.wording import word_count as word_count
    from jrh.errors import FaultKind as FaultKind
    from jrh.errors import JrhError as JrhError
    from jrh.errors import ModelFault as ModelFault
    from jrh.errors import PluginError as PluginError
    from jrh.errors import Problem as Problem
    from jrh.errors import StopReason as StopReason
    from jrh.errors import StopRun as StopRun
    from jrh.errors import StoreError as StoreError
    from jrh.errors import SuiteError as SuiteError
    from jrh.events import RecordWritten as RecordWritten
    from jrh.events import RunFinished as RunFinished
    from jrh.events import RunStarted as RunStarted
    from jrh.evidence import Evidence as Evidence
    from jrh.evidence import NoEvidence as NoEvidence
    from jrh.hookspecs import hookimpl as hookimpl
    from jrh.identity import content_id as content_id
    from jrh.identity import derive_seed as derive_seed
    from jrh.identity import shuffled as shuffled
    from jrh.importing import import_records as import_records
    from jrh.importing import imported_record as imported_record
    from jrh.installed import load_metrics as load_metrics
    from jrh.outcome import Ended as Ended
    from jrh.outcome import RunResult as RunResult
    from jrh.outcome import RunState as RunState
    from jrh.pool import for_each as for_each
    from jrh.protocols import LONGEST_ANSWER as LONGEST_ANSWER
    from jrh.protocols import TOO_LONG as TOO_LONG
    from jrh.protocols import BatchJudge as BatchJudge
    from jrh.protocols import BuildContext as BuildContext
    from jrh.protocols import ChatModel as ChatModel
    from jrh.protocols import ChatRequest as ChatRequest
    from jrh.protocols import Completion as Completion
    from jrh.protocols import DataSource as DataSource
    from jrh.protocols import Judge as Judge
    from jrh.protocols import Logger as Logger
    from jrh.protocols import Metric as Metric
    from jrh.protocols import MetricContext as MetricContext
    from jrh.protocols import ModelClient as ModelClient
    from jrh.protocols import Parser as Parser
    from jrh.protocols import Perturber as Perturber
    from jrh.protocols import Rates as Rates
    from jrh.protocols import Reporter as Reporter
    from jrh.protocols import SetPerturber as SetPerturber
    from jrh.protocols import SetValidator as SetValidator
    from jrh.protocols import SimulatedJudge as SimulatedJudge
    from jrh.protocols import TrainedJudge as TrainedJudge
    from jrh.protocols import Validator as Validator
    from jrh.providers import error_text as error_text
    from jrh.providers import response_format as response_format
    from jrh.providers import retry_after as retry_after
    from jrh.records import Categorical as Categorical
    from jrh.records import RecordTable as RecordTable
    from jrh.redact import Redactor as Redactor
    from jrh.report import Agreement as Agreement
    from jrh.report import Attrition as Attrition
    from jrh.report import ComponentUsed as ComponentUsed
    from jrh.report import CostLine as CostLine
    from jrh.report import FaultLine as FaultLine
    from jrh.report import RunReport as RunReport
    from jrh.report import TaskSummary as TaskSummary
    from jrh.rules import Rule as Rule
    from jrh.rules import parse_rule as parse_rule
    from jrh.runs import open_run as open_run
    from jrh.runs import read_items as read_items
    from jrh.runs import run as run
    from jrh.runs import run_state as run_state
    from jrh.scales import Scale as Scale
    from jrh.scales import ScaleKind as ScaleKind
    from jrh.scales import invert as invert
    from jrh.settings import read_settings as read_settings
    from jrh.settings import task_of as task_of
    from jrh.showing import clean_text as clean_text
    from jrh.showing import formula_safe as formula_safe
    from jrh.showing import html_text as html_text
    from jrh.showing import markdown_text as markdown_text
    from jrh.specs import ALL_MODES as ALL_MODES
    from jrh.specs import DataSourceSpec as DataSourceSpec
    from jrh.specs import JudgeKind as JudgeKind
    from jrh.specs import JudgeSpec as JudgeSpec
    from jrh.specs import MetricSpec as MetricSpec
    from jrh.specs import ModelSpec as ModelSpec
    from jrh.specs import NoOptions as NoOptions
    from jrh.specs import ParserSpec as ParserSpec
    from jrh.specs import PerturberSpec as PerturberSpec
    from jrh.specs import ReporterSpec as ReporterSpec
    from jrh.specs import ReportTarget as ReportTarget
    from jrh.specs import Scope as Scope
    from jrh.specs import ValidatorSpec as ValidatorSpec
    from jrh.store import EmptyStoreError as EmptyStoreError
    from jrh.structured import read_json as read_json
    from jrh.suite import Gate as Gate
    from jrh.syntax import WrittenTask as WrittenTask
    from jrh.templates import check_template as check_template
    from jrh.templates import packaged_template as packaged_template
    from jrh.templates import render as render
    from jrh.templates import tag_mark as tag_mark
    from jrh.templates import variables_of as variables_of
    from jrh.transcript_text import LeftOut as LeftOut
    from jrh.transcript_text import Rendered as Rendered
    from jrh.transcript_text import render_transcript as render_transcript
    from jrh.transcripts import ToolCall as ToolCall
    from jrh.transcripts import TranscriptMessage as TranscriptMessage
    from jrh.transcripts import read_transcript as read_transcript
    from jrh.transcripts import transcript_problems as transcript_problems
    from jrh.types import REFERENCE as REFERENCE
    from jrh.types import Case as Case
    from jrh.types import Changes as Changes
    from jrh.types import Condition as Condition
    from jrh.types import Draft as Draft
    from jrh.types import Equals as Equals
    from jrh.types import Example as Example
    from jrh.types import Expectation as Expectation
    from jrh.types import Interval as Interval
    from jrh.types import Item as Item
    from jrh.types import Json as Json
    from jrh.types import Judgement as Judgement
    from jrh.types import Measure as Measure
    from jrh.types import Message as Message
    from jrh.types import Mode as Mode
    from jrh.types import ModelName as ModelName
    from jrh.types import NotAbove as NotAbove
    from jrh.types import NotBelow as NotBelow
    from jrh.types import ParserName as ParserName
    from jrh.types import Polarity as Polarity
    from jrh.types import Prompt as Prompt
    from jrh.types import Provenance as Provenance
    from jrh.types import Question as Question
    from jrh.types import Record as Record
    from jrh.types import Reply as Reply
    from jrh.types import Same as Same
    from jrh.types import Sampling as Sampling
    from jrh.types import Skip as Skip
    from jrh.types import Status as Status
    from jrh.types import Task as Task
    from jrh.types import Text as Text
    from jrh.types import Trial as Trial
    from jrh.types import Truth as Truth
    from jrh.types import Usage as Usage
    from jrh.types import Validation as Validation
    from jrh.types import ValidatorName as ValidatorName
    from jrh.types import Verdict as Verdict

_PUBLIC = {
    "authoring.asking": "Answer ask_until_read",
    "authoring.checks": "Checks texts_of",
    "authoring.choices": "WrittenBy distinct",
    "authoring.edits": "Edit apply_edits edits_apart edits_at",
    "authoring.generation": "Generated TextWriter text_schema",
    "authoring.languages": "other_language",
    "authoring.texts": "LONGEST_TEXT PROVIDER_ERROR Unusable Written no_text read_text",
    "authoring.wording": "APOSTROPHE Protected WordingRule length_ratio not_after phrase_rule safe_edits word_count",
    "errors": "FaultKind JrhError ModelFault PluginError Problem StopReason StopRun StoreError SuiteError",
    "events": "RecordWritten RunFinished RunStarted",
    "evidence": "Evidence NoEvidence",
    "hookspecs": "hookimpl",
    "identity": "content_id derive_seed shuffled",
    "importing": "import_records imported_record",
    "installed": "load_metrics",
    "outcome": "Ended RunResult RunState",
    "pool": "for_each",
    "protocols": (
        "LONGEST_ANSWER TOO_LONG BatchJudge BuildContext ChatModel ChatRequest Completion DataSource Judge "
        "Logger Metric MetricContext ModelClient Parser Perturber Rates Reporter SetPerturber SetValidator "
        "SimulatedJudge TrainedJudge Validator"
    ),
    "providers": "error_text response_format retry_after",
    "records": "Categorical RecordTable",
    "redact": "Redactor",
    "report": "Agreement Attrition ComponentUsed CostLine FaultLine RunReport TaskSummary",
    "rules": "Rule parse_rule",
    "runs": "open_run read_items run run_state",
    "scales": "Scale ScaleKind invert",
    "settings": "read_settings task_of",
    "showing": "clean_text formula_safe html_text markdown_text",
    "specs": (
        "ALL_MODES DataSourceSpec JudgeKind JudgeSpec MetricSpec ModelSpec NoOptions ParserSpec PerturberSpec "
        "ReportTarget ReporterSpec Scope ValidatorSpec"
    ),
    "store": "EmptyStoreError",
    "structured": "read_json",
    "suite": "Gate",
    "syntax": "WrittenTask",
    "templates": "check_template packaged_template render tag_mark variables_of",
    "transcript_text": "LeftOut Rendered render_transcript",
    "transcripts": "ToolCall TranscriptMessage read_transcript transcript_problems",
    "types": (
        "REFERENCE Case Changes Condition Draft Equals Example Expectation Interval Item Json Judgement Measure "
        "Message Mode ModelName NotAbove NotBelow ParserName Polarity Prompt Provenance Question Record Reply Same "
        "Sampling Skip Status Task Text Trial Truth Usage Validation ValidatorName Verdict"
    ),
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - a list, made at import


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'jrh' has no attribute '{name}'")
    value = getattr(import_module(f"jrh.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
