from .imported_records import import_records as import_records
from .imported_records import imported_record as imported_record
