"""`python -m tests.golden` writes the golden games again.

With the name of a preset it prints that whole game.
"""

import sys

from tests.golden import play_golden, write_all

if len(sys.argv) > 1:
    print("\n".join(play_golden(sys.argv[1])[0]))
else:
    write_all()
