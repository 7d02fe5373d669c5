"""As the command nohup does: runs the command line with hang-ups ignored: nohup.py ARGUMENT..."""

from __future__ import annotations

import os
import signal
import sys

signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "fleetgate", *sys.argv[1:]])
