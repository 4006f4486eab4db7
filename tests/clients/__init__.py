"""A script for each library that uses the environments, as one of its users would write it.

`python tests/clients/with_NAME.py` runs one; `tests/test_clients.py` runs those whose library is installed.
"""
