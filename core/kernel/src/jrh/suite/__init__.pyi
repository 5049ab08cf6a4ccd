from .definition import First as First
from .gate_rules import Rule as Rule
from .gate_rules import parse_rule as parse_rule
from .modes import read_file as read_file
from .syntax import WrittenScale as WrittenScale
from .syntax import WrittenTask as WrittenTask
