"""GRPO (TRL) on Risk, end to end on a CPU: a tiny random model learns from the rewards of its plans.

    python examples/grpo_tiny.py --steps 20         # needs `pip install trl`

A prompt is a report, and an answer is a plan. The reward is the change of the learner's share of the map
until the next report, plus 1 for a win or -1 for a loss. An answer that cannot be played gets a reward from
-1 to 0. This reward depends on the similarity of the answer to a legal action. Without this reward, a random
model would learn nothing. With a real model, use `text_env.make("duel")` and a GPU.

The program shows how the parts fit together. A random model of this size does not learn to play, so there is
no result to state. The last line of the output is the number of answers a second, with learning.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from difflib import SequenceMatcher
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from risk_env import text_env

ANSWERS = 16  # number of answers in a training step
STYLE_OF_PLAY = ("end", "draft Ash all; end", "done")  # answers that lead to the positions of the prompts


def questions(count: int) -> list[dict[str, Any]]:
    """Return prompts together with their positions."""
    env = text_env.make("tiny", seat=0)
    prompts: list[dict[str, Any]] = []
    report, _ = env.reset(seed=0)
    while len(prompts) < count:
        prompts.append({"prompt": report, "position": env.game.to_text()})
        report, _, terminated, truncated, _ = env.step(STYLE_OF_PLAY[len(prompts) % len(STYLE_OF_PLAY)])
        if terminated or truncated:
            report, _ = env.reset()
    return prompts


def worth(completions: list[str], position: list[str], **others: Any) -> list[float]:
    """Return the reward of each answer, played from the position of the prompt."""
    rewards = []
    for answer, text in zip(completions, position, strict=True):
        env = text_env.make("tiny", seat=0, positions=[text], reward="territories")
        env.reset(seed=0)
        legal = [env.game.action_text(int(action)) for action in env.game.legal_actions()]
        _, reward, _, _, info = env.step(answer)
        rewards.append(max(likeness(answer, action) for action in legal) - 1.0 if info["illegal"] else reward)
    return rewards


def likeness(answer: str, action: str) -> float:
    """Return the similarity of two strings, from 0 to 1."""
    return SequenceMatcher(None, answer, action).ratio()


def tiny_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with a vocabulary of up to 600 tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=600, special_tokens=["<end>"], initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")


def train(steps: int, folder: str) -> list[dict[str, float]]:
    """Train for `steps` steps, and return the rows of the trainer's log that contain rewards."""
    data = questions(32)
    tokenizer = tiny_tokenizer([row["prompt"] for row in data])
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=2048, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    settings = GRPOConfig(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=ANSWERS,
        num_generations=ANSWERS,
        max_completion_length=16,
        learning_rate=1e-2,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
    )
    trainer = GRPOTrainer(
        model=GPT2LMHeadModel(config),
        reward_funcs=worth,
        args=settings,
        train_dataset=Dataset.from_list(data),
        processing_class=tokenizer,
    )
    trainer.train()
    return [line for line in trainer.state.log_history if "reward" in line]


def main() -> None:
    """Train the model, and print the mean reward of every step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20, help="number of training steps (default: 20)")
    arguments = parser.parse_args()
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for line in train(arguments.steps, folder):
            print(f"step {line['step']}: mean reward {float(line['reward']):.3f}")
    seconds, answers = time.process_time() - start, arguments.steps * ANSWERS
    print(f"{answers:,} answers in {seconds:.0f} s: {answers / seconds:,.1f} a second")


if __name__ == "__main__":
    main()
