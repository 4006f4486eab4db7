"""Speed benchmarks of risk_env and other libraries; results are recorded with machine, command and date."""
