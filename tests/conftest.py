import os

from hypothesis import HealthCheck, settings

# No deadline: the first text that a vocabulary counts loads it, and a machine that runs the tests has other work
# too. A real store makes examples slow to make, which is no reason to give up. In CI the examples are the same in
# every run, so that a failure there is the change's own.
settings.register_profile(
    "weft",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weft")
