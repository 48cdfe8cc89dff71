"""Runs of a sweep trained on other machines, by Ray."""

import os

# Ray reads these when it is loaded. No cluster at an address is known after 20 seconds, and not after 13 minutes.
os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")
os.environ.setdefault("RAY_py_gcs_connect_timeout_s", "5")
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
