"""Names of the files in the folder of a training run."""

CHECKPOINT, METRICS = "checkpoint.pt", "metrics.jsonl"
CONFIG, TENSORBOARD = "config.yml", "tensorboard"  # file of settings; folder of logs
TRACKER_ID = "tracker_id"  # file with the id of the run in wandb or trackio
POLICY_FILE = "policy.npz"
BEAM_VALUE_FILE, STATE_VALUE_FILE, TURN_POLICY_FILE = "beam_value.npz", "state_value.npz", "turn_policy.npz"
LAST, BEST, BEST_WEIGHTS = "last.zip", "best.zip", "best.npz"  # files of the trainer `sb3`
# The first of these files that exists is the best agent of a run.
BEST_OF_RUN = (BEST, POLICY_FILE, TURN_POLICY_FILE, BEAM_VALUE_FILE, STATE_VALUE_FILE)
