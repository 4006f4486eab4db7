"""`python -m tests.golden`."""

from tests.golden import write_all

write_all()
