"""Names of the files that a run leaves in its folder."""

CHECKPOINT, METRICS = "checkpoint.pt", "metrics.jsonl"
CONFIG, TENSORBOARD = "config.yml", "tensorboard"  # the settings; a folder
POLICY_FILE = "policy.npz"
BEAM_VALUE_FILE, STATE_VALUE_FILE, TURN_POLICY_FILE = "beam_value.npz", "state_value.npz", "turn_policy.npz"
LAST, BEST, BEST_WEIGHTS = "last.zip", "best.zip", "best.npz"  # of Stable-Baselines3
# best agent of a run: the first of these files that exists
BEST_OF_RUN = (BEST, POLICY_FILE, TURN_POLICY_FILE, BEAM_VALUE_FILE, STATE_VALUE_FILE)
