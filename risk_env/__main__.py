"""`python -m risk_env`: the command line."""

import sys

from risk_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
