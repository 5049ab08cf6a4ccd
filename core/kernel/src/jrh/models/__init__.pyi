from .http import error_text as error_text
from .http import response_format as response_format
from .http import retry_after as retry_after
