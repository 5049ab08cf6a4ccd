from .copying import StoredRows as StoredRows
from .copying import write_store as write_store
from .run_store import ALIKE as ALIKE
from .run_store import SEED as SEED
from .run_store import SHARD as SHARD
from .stage_tables import Merge as Merge
from .stage_tables import TableSpec as TableSpec
