"""Risk for verifiers, the library for RL of language models.

    python verifiers_risk.py --model NAME --base-url http://127.0.0.1:8000/v1 --games 8

A task is a seed, and an episode is the game of this seed. A user message is a report, and an answer is a
plan. `risk_env.text_env` computes the reward.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from risk_agents.llm.endpoint import plan_in
from risk_env import text_env

__all__ = ["RiskEnv", "RiskHarness", "RiskTaskset"]

SYSTEM_PROMPT = """You play the board game Risk. A message is a report that ends with a question.
You may think first. \
End with actions in order, separated by `;`, on a line of their own that begins with PLAN:
PLAN: draft Ural all; attack Ural > Ukraine; occupy all; end"""

MOST_ANSWERS = 10_000  # number of answers after which a game counts as endless


class RiskConfig(vf.TasksetConfig):
    """Settings of the games."""

    curriculum: str = "tiny"  # one of `text_env.CURRICULA`
    opponents: str = "random"
    style: str = "brief"


class RiskData(vf.TaskData):
    """Data that an episode needs to play the game whose first report is the prompt."""

    seed: int
    arguments: dict[str, Any]


class RiskState(vf.State):
    """Results of a game so far."""

    reward: float = 0.0
    counts: dict[str, float] = Field(default_factory=dict)


class RiskTask(vf.Task[RiskData, RiskState]):
    """A task: one game."""

    def new_game(self) -> tuple[text_env.TextEnv, str]:
        """Return the environment at the start of the game, and the first report."""
        env = text_env.make(**self.data.arguments)
        return env, env.reset(self.data.seed)[0]

    @vf.reward
    async def game(self, trace: vf.Trace) -> float:
        """Return the sum of the rewards of the game."""
        return trace.state.reward

    @vf.metric
    async def answers(self, trace: vf.Trace) -> dict[str, float]:
        """Return the numbers of answers, of refused answers and of fallbacks."""
        return trace.state.counts

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return True if the first report is the prompt, and the answer "end", repeated, ends the game."""
        game, report = self.new_game()
        for _ in range(MOST_ANSWERS):
            _, _, terminated, truncated, _ = game.step("end")
            if terminated or truncated:
                return report == self.data.prompt
        return False


class RiskTaskset(vf.Taskset[RiskTask, RiskConfig]):
    """Games with the seeds 0, 1, ..."""

    INFINITE = True

    def load(self) -> Iterator[RiskTask]:
        """Yield the tasks.

        The learner's seat is `seed % players`, so that the learner plays every seat equally often.
        """
        config = self.config
        arguments = {"curriculum": config.curriculum, "opponents": config.opponents, "style": config.style}
        players = text_env.make(**arguments).rules.num_players
        seed = 0
        while True:
            data = RiskData(
                seed=seed, arguments={**arguments, "seat": seed % players}, system_prompt=SYSTEM_PROMPT
            )
            task = RiskTask(data, self.config.task)
            yield task.with_data(name=f"{config.curriculum}-{seed}", prompt=task.new_game()[1])
            seed += 1


class RiskEnvConfig(vf.EnvConfig):
    """Settings of the model's seat. The model runs no code, so the requests come from this process."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class RiskEnv(vf.Env[RiskEnvConfig]):
    """An environment in which the game takes the role of the user, and answers plans with reports."""

    async def run(self, task: RiskTask, agents: vf.Agents) -> None:
        """Play one game, and store the reward and the counts of the game in the state of the trace."""
        game, _ = task.new_game()
        is_over = False
        async with agents.player.interaction(task) as interaction:
            state = interaction.trace.state
            segment = await interaction.turn()
            while not segment.terminated and not is_over:
                report, reward, terminated, truncated, info = game.step(plan_in(segment.last_reply))
                state.reward += reward
                state.counts = {name: float(info[name]) for name in ("exchanges", "illegal", "fallbacks")}
                is_over = terminated or truncated
                if not is_over:
                    segment = await interaction.turn(report)


class RiskHarness(vf.Harness[vf.HarnessConfig]):
    """A harness that sends the conversation to the model, without tools, files or a sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Request one answer. Verifiers records the answer at `endpoint`."""
        system, prompt = self.resolve_prompt(data)
        said = (
            [{"role": "user", "content": prompt}]
            if isinstance(prompt, str)
            else map(message_to_wire, prompt or [])
        )
        messages = [{"role": "system", "content": system}, *said]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")


async def evaluate(model: str, base_url: str, games: int, **taskset: Any) -> list[vf.Episode]:
    """Play `games` games, at most 16 at the same time, and return the episodes."""
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "verifiers_risk", **taskset}}))
    context = vf.ModelContext(
        model=model, client=vf.EvalClientConfig(base_url=base_url, api_key_var="OPENAI_API_KEY")
    )
    bound = asyncio.Semaphore(16)
    async with env.serving():
        slots = [slot for task in env.taskset.take(games) for slot in env.slots(task)]
        return list(await asyncio.gather(*(env.run_slot(slot, context, bound) for slot in slots)))


def main() -> None:
    """Play games, and print the reward of every game."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="name of the model")
    parser.add_argument(
        "--base-url",
        required=True,
        help="address of a server with OpenAI's chat API; the variable OPENAI_API_KEY contains the key",
    )
    parser.add_argument("--games", type=int, default=8, help="number of games (default: 8)")
    parser.add_argument(
        "--curriculum", default="tiny", choices=text_env.CURRICULA, help="games to play (default: tiny)"
    )
    arguments = parser.parse_args()
    episodes = asyncio.run(
        evaluate(arguments.model, arguments.base_url, arguments.games, curriculum=arguments.curriculum)
    )
    for episode in episodes:
        errors = [error.message for error in episode.errors]
        rewards = [trace.reward for trace in episode.traces]
        print(f"{episode.task.data.name}: {errors or rewards}")


if __name__ == "__main__":
    main()
