"""Untrusted files, texts and values: bounded, and refused with the named error."""

import io
import os
import sys
import zipfile
import zlib

import pytest

from risk_env.bounded_io import MOST_NESTING, parse_json, read_file, read_zip
from risk_env.messages import cause, shortened


def test_a_regular_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(ValueError, match=r"file.*larger than 4 bytes"):
        read_file(path, 4)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for ever
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero", "a\0b", tmp_path / "nowhere"):
        with pytest.raises(FileNotFoundError, match="no regular file"):
            read_file(path, 100)


def test_json_is_read():
    assert parse_json('{"a": [1, 2.5, null, "x"]}') == {"a": [1, 2.5, None, "x"]}
    assert parse_json("[1.7976931348623157e308, -1e308, 1e-999]") == [1.7976931348623157e308, -1e308, 0.0]
    assert parse_json("[" * MOST_NESTING + "]" * MOST_NESTING)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        "1e999",
        '{"a": [-1e999]}',
        "9" * 400 + ".0",
        "[" * 33 + "]" * 33,
        "[" * 10**6,
        '{"a":' * 40 + "1" + "}" * 40,
        b"\xff",
        "9" * 5000,
    ],
)
def test_other_texts_are_a_value_error(text):
    with pytest.raises(ValueError):
        parse_json(text)


def zipped(method=zipfile.ZIP_DEFLATED, **files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_zip_is_read():
    content = zipped(a=b"1", b=b"22")
    assert read_zip(content, 3) == {"a": b"1", "b": b"22"}
    assert read_zip(content, 3, ["b"]) == {"b": b"22"}


OTHER_ARCHIVES = {
    "empty": b"",
    "two letters": b"PK",
    "cut": zipped(a=b"1")[:-5],
    "too large": zipped(a=b"12345"),
    "lzma": zipped(method=zipfile.ZIP_LZMA, a=b"1"),
    "bzip2": zipped(method=zipfile.ZIP_BZIP2, a=b"1"),
    "too many files": zipped(**{str(number): b"" for number in range(1001)}),
    "another checksum": zipped(zipfile.ZIP_STORED, a=b"1234").replace(b"1234", b"1235"),
}


# Named, for an archive contains the time it was made at: workers that collect at other times would see other
# tests.
@pytest.mark.parametrize("content", OTHER_ARCHIVES.values(), ids=OTHER_ARCHIVES)
def test_other_archives_are_a_value_error(content):
    with pytest.raises(ValueError, match="zip"):
        read_zip(content, 4)


def test_a_missing_entry_is_a_value_error():
    with pytest.raises(ValueError, match="facts"):
        read_zip(zipped(a=b"1"), 10, ["facts"])


def test_an_archive_that_lies_about_its_sizes_is_not_expanded():
    """The entry states 4 bytes and contains 64 MiB: at most 4 bytes are requested."""
    whole = zlib.compress(bytes(1 << 26), 9)
    honest = zipped(a=bytes(1 << 26))
    assert len(honest) < len(whole) + 1000
    liar = honest.replace((1 << 26).to_bytes(4, "little"), (4).to_bytes(4, "little"))
    before = peak()
    with pytest.raises(ValueError):
        read_zip(liar, 1000)
    assert peak() - before < 1 << 24


def peak():
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_any_value_can_be_shown():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert shortened("x" * 200) == "'" + "x" * 76 + "..."
    for value in (deep, 1 << 100_000):
        assert "too large" in shortened(value)
    while deep:
        (deep,) = deep


def test_the_cause_of_an_error_is_one_short_line():
    assert cause(ValueError("rows[3].name: must be\n  a text")) == "ValueError: rows[3].name: must be a text"
    long = cause(ValueError("x" * 1000))
    assert len(long) == 300 and long.endswith("...")
