"""Language models at a fake HTTP endpoint: every game ends, every fault is counted, no key leaks."""

import json
import random
import sqlite3
import string
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from risk_agents.game_files import read_games

pytest.importorskip("httpx2")

from risk_agents.llm import agent as llm
from risk_agents.llm import endpoint as endpoints
from risk_agents.llm.agent import ModelAgent, prompt
from risk_agents.llm.endpoint import plan_in
from risk_agents.llm.masking import masked
from risk_agents.llm.settings import Settings, settings_for
from risk_agents.registry import play_game
from risk_agents.tournament.cli import main
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.model_notes import are_notes
from risk_agents.tournament.results_store import Store
from risk_env import Game, Rules, load_map
from risk_env.core.types import Phase
from tests.fake_endpoint import ENCODINGS, FakeEndpoint

KEY = "sk-secret-0123456789"
RULES = Rules.preset(
    "classic", 2, attack="blitz", defender_dice="max", max_rounds=5, setup="random", initial_troops=8
)
FAULTS = {  # habit: what is counted
    "garbage": "illegal",
    "illegal": "illegal",
    "half": "illegal",
    "order": "illegal",
    "half body": "garbage",
    "nothing": "illegal",
    "no content": "illegal",
    "thousand lines": "illegal",
    "injected": "illegal",
    "wrong types": "illegal",
    "list": "any",
    "misshapen": "garbage",
    "429": "429",
    "500": "5xx",
    "401": "refused",
    "400": "refused",
    "slow": "timeout",
    "drip": "timeout",
    "drip headers": "timeout",
    "1 GB": "garbage",
    "gzip bomb": "garbage",
    "redirect": "refused",
    "echo500": "5xx",
    "echo401": "refused",
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def settings(endpoint: FakeEndpoint, folder: Path, **others: object) -> Settings:
    usual = {
        "backoff": 0.0,
        "retries": 1,
        "timeout": 0.2 if FAULTS.get(endpoint.habit) == "timeout" else 10.0,
    }
    return Settings(**{"base_url": endpoint.url, "transcripts": str(folder), **usual, **others})  # type: ignore[arg-type]


def play(
    habit: str, folder: Path, max_rounds: int = 5, **others: object
) -> tuple[Game, ModelAgent, FakeEndpoint]:
    with FakeEndpoint(habit).running() as endpoint:
        model = ModelAgent("llm:fake", settings(endpoint, folder, **others))
        game = play_game(RULES.replace(max_rounds=max_rounds), load_map("tiny"), [model, "random"], seed=3)
    model.over({"winner": game.winner})
    return game, model, endpoint


def written(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.iterdir())


def check_secret(words: str) -> None:
    """Check that no part of the key of eight characters is readable, however it is written."""
    lowered = words.lower()
    for form in ENCODINGS:
        known = form(KEY).lower().strip('"')
        # beside it base64 mixes in other letters
        readable = [known[at : at + 16] for at in range(3, len(known) - 18)]
        assert not any(part in lowered for part in readable), (known, lowered)
    assert not any(KEY[at : at + 8] in words for at in range(len(KEY) - 7))


@pytest.mark.parametrize("answer", ["text", "tool", "json"])
def test_a_good_model_plays_whole_turns(answer: str, tmp_path: Path) -> None:
    habit = {"text": "good"}.get(answer, answer)
    game, model, endpoint = play(habit, tmp_path, answer=answer, price_in=1.0, price_out=10.0)
    counts = model.counts
    assert game.is_over and counts.illegal == counts.fallbacks == 0 and not counts.failures
    assert counts.exchanges == len(endpoint.requests) <= 3 * counts.turns
    assert counts.tokens_in == 700 * counts.exchanges
    assert counts.money == pytest.approx(counts.exchanges * (700 + 400) / 1e6)
    assert ("tools" in endpoint.requests[0]) == (answer == "tool")
    assert ("response_format" in endpoint.requests[0]) == (answer == "json")


@pytest.mark.parametrize("habit", FAULTS)
def test_every_fault_is_counted_and_every_game_ends(habit: str, tmp_path: Path) -> None:
    game, model, _ = play(habit, tmp_path, max_rounds=2, attempts=2)
    counted, expected = model.counts, FAULTS[habit]
    assert game.is_over and counted.fallbacks
    if expected == "illegal":
        assert counted.illegal and not counted.failures
    elif expected != "any":
        assert set(counted.failures) == {expected} and not counted.exchanges
    check_secret(written(tmp_path) + json.dumps(model.notes()))


@pytest.mark.parametrize("length", [12, 20, 136])
@pytest.mark.parametrize("cut", range(0, 700, 100))
def test_no_part_of_a_key_is_left_where_a_text_is_cut(
    length: int, cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "".join(random.Random(length).choices(string.ascii_letters + string.digits, k=length))
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    with FakeEndpoint("401").running() as fake:
        fake.reply = lambda request, key: (401, {"error": "x" * cut + key})  # type: ignore[method-assign]
        with pytest.raises(endpoints.EndpointError) as caught:
            endpoints.Endpoint("fake", settings(fake, tmp_path)).request([], lambda error: None)
    assert fake.keys == [secret]
    assert not any(secret[at : at + 8] in str(caught.value) for at in range(length - 7))


def test_a_key_that_is_told_back_is_in_no_answer(tmp_path: Path) -> None:
    game, model, _ = play("echo", tmp_path, max_rounds=2)
    assert game.is_over and model.counts.exchanges and not model.counts.fallbacks
    check_secret(written(tmp_path))
    assert "[key]" in written(tmp_path)


def test_a_placeholder_is_no_key_and_masks_nothing() -> None:
    assert masked("attack Alaska > Kamchatka", "a") == "attack Alaska > Kamchatka"
    assert masked("attack Alaska > Kamchatka", "Kamchatka") == "attack Alaska > [key]"
    assert masked("İİ Kamchatka", "Kamchatka") == "İİ [key]"


@pytest.mark.parametrize("wrong", ["sk-secret 0123", "sk-secret\n0123", "sk-sécret-0123"])
def test_a_key_that_no_header_can_hold_is_refused_without_it(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    with pytest.raises(ValueError, match="the key in OPENAI_API_KEY must be") as caught:
        Settings()
    assert wrong not in str(caught.value)


def test_a_redirect_gets_no_key(tmp_path: Path) -> None:
    with FakeEndpoint("good").running() as elsewhere, FakeEndpoint("redirect").running() as fake:
        fake.headers = {"Location": f"{elsewhere.url}/chat/completions"}
        with pytest.raises(endpoints.EndpointError, match="redirects are not followed"):
            endpoints.Endpoint("fake", settings(fake, tmp_path)).request([], lambda error: None)
    assert not elsewhere.requests and not elsewhere.keys


def test_retries_end_after_the_patience_in_all(tmp_path: Path) -> None:
    failed: list[endpoints.EndpointError] = []
    with FakeEndpoint("drip").running() as fake:
        own = settings(fake, tmp_path, retries=10**6, patience=1.0)
        with pytest.raises(endpoints.EndpointError):
            endpoints.Endpoint("fake", own).request([{"role": "user", "content": "?" * 4000}], failed.append)
    assert 2 <= len(failed) <= 10 and all(error.tokens >= 1000 for error in failed)


@pytest.mark.parametrize(
    "usage",
    [
        *(None, [], 3, "many", {}, {"prompt_tokens": None, "completion_tokens": []}, {"prompt_tokens": True}),
        *(
            {"prompt_tokens": number, "completion_tokens": number}
            for number in (-5, 0, 1e300, 10**4000, "7", 2**62)
        ),
    ],
)
def test_tokens_that_cannot_be_are_counted_by_length(usage: object, tmp_path: Path) -> None:
    game, model, endpoint = play(f"usage {json.dumps(usage)}", tmp_path, max_rounds=2, game_tokens=1500)
    assert game.is_over and 1 <= len(endpoint.requests) <= 3 and model.counts.fallbacks
    assert 200 * len(endpoint.requests) < model.counts.tokens_in < 2500
    assert 0 < model.counts.tokens_out < 1000 and are_notes(model.notes())


def test_a_transcript_that_cannot_be_written_decides_no_game(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with FakeEndpoint("good").running() as endpoint:
        model = ModelAgent("llm:fake", settings(endpoint, tmp_path / "file"))
        game = play_game(RULES.replace(max_rounds=1), load_map("tiny"), [model, "random"], seed=3)
    assert game.is_over and model.counts.exchanges and model.notes()["transcript"] == ""
    assert caplog.text.count("the transcript of a language model cannot be written") == 1


def test_a_transcript_overwrites_no_other(tmp_path: Path) -> None:
    names = [play("good", tmp_path, max_rounds=1)[1].notes()["transcript"] for _ in range(3)]
    assert len({*names}) == 3 and {path.name for path in tmp_path.iterdir()} == {*names}
    assert names[1] == names[0].replace(".jsonl", "-2.jsonl")


@pytest.mark.parametrize("status", ["429", "500"])
def test_what_passes_is_tried_again(status: str, tmp_path: Path) -> None:
    game, model, _ = play(f"{status} then good", tmp_path, max_rounds=2)
    assert game.is_over and not model.counts.fallbacks
    assert sum(model.counts.failures.values()) == model.counts.exchanges


def test_the_endpoint_is_left_alone_as_long_as_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(endpoints.time, "sleep", waited.append)
    with FakeEndpoint("429").running() as fake:
        client = endpoints.Endpoint("fake", settings(fake, tmp_path, retries=4, backoff=1.0))
        for header in ("7", "1e9", "-3", "nan", "soon", None):
            fake.headers = {} if header is None else {"Retry-After": header}
            with pytest.raises(endpoints.EndpointError):
                client.request([{"role": "user", "content": "?"}], lambda kind: None)
    asked, long, *others = (waited[first : first + 4] for first in range(0, len(waited), 4))
    assert asked[:3] == [7, 7, 7] and 7 <= asked[3] <= 8 and long == [endpoints.MOST_WAIT] * 4
    for waits in others:
        assert all(2**attempt / 2 <= wait <= 2**attempt for attempt, wait in enumerate(waits))


def test_a_date_to_retry_after_is_seconds_from_now() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    assert 27 < endpoints.wait_of(format_datetime(soon, usegmt=True)) <= 30
    assert endpoints.wait_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert [endpoints.wait_of(words) for words in ("", "-1", "inf", "9" * 400, "Wed, 99 Oct 2015")] == [0] * 5


def test_what_is_wrong_is_said_back(tmp_path: Path) -> None:
    _, model, endpoint = play("illegal", tmp_path, max_rounds=1, attempts=2)
    assert endpoint.requests[1]["messages"][-1]["content"].startswith("Not played: ")
    assert model.counts.illegal == len(endpoint.requests)
    lines = [json.loads(line) for line in written(tmp_path).splitlines()]
    kinds = {line["kind"] for line in lines}
    assert kinds == {"question", "answer", "refused", "fallback", "over"}


def test_a_games_tokens_are_bounded(tmp_path: Path) -> None:
    game, model, endpoint = play("good", tmp_path, game_tokens=1000)
    assert game.is_over and len(endpoint.requests) == 2 and model.counts.fallbacks >= model.counts.turns - 2
    game, model, endpoint = play("good", tmp_path, game_money=0.001, price_in=1.0)
    assert game.is_over and len(endpoint.requests) == 2


def test_many_games_wait_at_the_same_time(tmp_path: Path) -> None:
    """64 games whose endpoint takes 50 ms per answer do not wait for each other."""
    with FakeEndpoint("good").running() as endpoint:
        answer, waiting, most = endpoint.reply, [0], [0]
        lock = threading.Lock()

        def late(*arguments: object) -> object:
            with lock:
                waiting[0] += 1
                most[0] = max(most[0], waiting[0])
            time.sleep(0.05)
            with lock:
                waiting[0] -= 1
            return answer(*arguments)  # type: ignore[arg-type]

        endpoint.reply = late  # type: ignore[assignment,method-assign]

        def game(seed: int) -> bool:
            model = ModelAgent("llm:fake", settings(endpoint, tmp_path, timeout=60.0))
            return play_game(RULES.replace(max_rounds=2), load_map("tiny"), [model, "random"], seed).is_over

        with ThreadPoolExecutor(64) as threads:
            assert all(threads.map(game, range(64)))
    assert most[0] > 8


def test_a_tournament_shows_and_keeps_what_models_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llm.toml").write_text('transcripts = "transcripts"\n[models.fake]\nprice_in = 2.0\n')
    monkeypatch.setenv("RISK_ENV_LLM", "llm.toml")
    with FakeEndpoint("good").running() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        rules = [
            "--map",
            "tiny",
            "--max-rounds",
            "3",
            "--option",
            "initial_troops=8",
            "--option",
            "setup=random",
        ]
        main(["--agents", "llm:fake,random", "--games", "4", "--workers", "4", "--quiet", *rules]
             + ["--out", "t.sqlite", "--save", "games.jsonl", "--report", "report.html"])  # fmt: skip
        main(["--resume", "t.sqlite", "--quiet", "--games", "6", "--allow-programs"])
    told = capsys.readouterr().out
    assert (
        "Language models" in told
        and "exchanges per turn" in told
        and "exchanges per turn" in Path("report.html").read_text()
    )
    for saved, result in read_games("games.jsonl"):
        seat = saved.players.index("fake")
        notes = result["models"][seat]
        assert result["models"][1 - seat] is None
        assert notes["exchanges"] and notes["money"] == pytest.approx(notes["tokens_in"] * 2 / 1e6)
        assert (tmp_path / "transcripts" / notes["transcript"]).is_file()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in kept and KEY not in told


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ('{"plan": "end"}', "end"),
        ("thinking PLAN: no\nPLAN: draft Ural all; end", "draft Ural all; end"),
        ("see\n```\nend\n```", "end"),
        ("[" * 100_000, "[" * 100_000),
        ("", ""),
    ],
)
def test_a_plan_is_found_in_an_answer(text: str, plan: str) -> None:
    assert plan_in(text) == plan


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("answer = 'song'", "answer='song': choose one of 'text', 'tool', 'json'"),
        ("key = 'x'", "unknown setting 'key'"),
        ("timeout = 'long'", "timeout='long': must be of type float"),
        ("attempts = true", "attempts=True: must be of type int"),
        ("timeout = 0.0", "timeout=0.0: must be above 0"),
        ("timeout = inf", "timeout=inf: must be above 0"),
        ("temperature = 1e999", "temperature=inf: must be from 0"),
        ("patience = nan", "patience=nan: must be above 0"),
        (f"retries = {10**300}", "retries=1000.*: must be from 0"),
        ("base_url = 'file:///etc'", "base_url must begin with http"),
        ("models = 3", "models must contain tables"),
        ("= 3", "llm.toml"),
    ],
)
def test_wrong_settings_are_named(
    text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llm.toml").write_text(text)
    monkeypatch.setenv("RISK_ENV_LLM", str(tmp_path / "llm.toml"))
    with pytest.raises(ValueError, match=problem):
        settings_for("fake")


def test_every_phase_has_a_primer() -> None:
    assert set(llm.PRIMERS) == {phase for phase in Phase if phase < Phase.OVER}
    assert all(prompt("v1", name) for name in llm.PRIMERS.values())
    with pytest.raises(ValueError, match="has no prompt 'system'; allowed versions: v1"):
        prompt("v0", "system")


def test_notes_that_were_altered_are_refused_with_the_file_named(tmp_path: Path) -> None:
    rules = Rules.preset("classic", 2, setup="random")
    config = make_config(["random", "random2=random"], rules, "tiny")
    with closing(Store.create(tmp_path / "t.sqlite", config)):
        pass
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as database, database:
        database.execute("CREATE TABLE notes (game INTEGER PRIMARY KEY, notes TEXT NOT NULL)")
        database.execute("INSERT INTO notes VALUES (0, '[{\"failures\": 3}, null]')")
    with (
        closing(Store.open(tmp_path / "t.sqlite")) as store,
        pytest.raises(ValueError, match=r"t\.sqlite.*notes="),
    ):
        list(store.results())
