from .replies import COMPLETE as COMPLETE
from .replies import FAILED as FAILED
from .routing import header_digests as header_digests
from .routing import routing_digest as routing_digest
from .unsettable import refused_settings as refused_settings
