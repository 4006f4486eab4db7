"""Speed benchmarks of risk_env and other libraries, recorded with machine, command and date."""
