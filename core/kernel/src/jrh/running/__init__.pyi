from .default_metrics import load_metrics as load_metrics
from .looks import Look as Look
from .outcome import RunResult as RunResult
from .outcome import RunState as RunState
from .pool import for_each as for_each
