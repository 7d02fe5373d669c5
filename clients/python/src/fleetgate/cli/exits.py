"""Exit codes of our own, from sysexits.h."""

USAGE = 2
UNAVAILABLE = 69
NO_SLOT = 75
LOST = 75
CANNOT_RUN = 126
NOT_FOUND = 127
