from .definition import First as First
from .gate_rules import Rule as Rule
from .gate_rules import parse_rule as parse_rule
from .settings import read_settings as read_settings
from .settings import task_of as task_of
from .starter import write_suite as write_suite
from .syntax import WrittenTask as WrittenTask
