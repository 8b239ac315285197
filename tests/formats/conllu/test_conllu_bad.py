"""Input that is not valid CoNLL-U: the message says where, what and how to mend it."""

import pytest
from conllu_samples import SHORT, block, docs, row
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.conllu.api import ConlluError, ReadReport, read_conllu

BAD = {
    "blanks instead of tabs": ("1  Rain  _  _  _  _  0  root  _  _\n\n", "1 columns, wanted 10"),
    "9 columns": ("1\tRain\t_\t_\t_\t_\t0\troot\t_\n\n", "9 columns, wanted 10"),
    "11 columns": (row(1, "Rain", 0, "root", misc="_\t_") + "\n", "11 columns, wanted 10"),
    "empty form": (block(row(1, "", 0, "root")), "column FORM is empty"),
    "empty xpos": (block(row(1, "x", 0, "root", xpos="")), "column XPOS is empty; write _"),
    "head too big": (block(row(1, "x", 3, "dep"), row(2, "y", 0, "root")), "HEAD 3 .* 0 .* to 2"),
    "negative head": (block(row(1, "x", -1, "dep"), row(2, "y", 0, "root")), "HEAD -1 .* to 2"),
    "huge head": (block(row(1, "x", "9" * 5000, "dep")), "out of range"),
    "head in words": (block(row(1, "x", "two", "dep")), "HEAD 'two' is not a number"),
    "head in other digits": (block(row(1, "x", "\u0661", "dep")), "is not a number"),
    "head with fraction": (block(row(1, "x", "0.1", "dep")), "is not a number"),
    "leading zero": (block(row(1, "x", "00", "root")), "leading zeros"),
    "self-head": (block(row(1, "x", 1, "dep"), row(2, "y", 0, "root")), "is the word itself"),
    "cycle": (
        block(
            row(1, "x", 2, "a"), row(2, "y", 3, "b"), row(3, "z", 1, "c"), row(4, "w", 0, "root")
        ),
        "cycle in HEAD: 1 -> 2 -> 3 -> 1",
    ),
    "cycle beside missing heads": (
        block(row(1, "x"), row(2, "y", 3, "b"), row(3, "z", 2, "c")),
        "cycle in HEAD: 2 -> 3 -> 2",
    ),
    "no root": (block(row(1, "x", 2, "a"), row(2, "y", 1, "b")), "no root"),
    "several roots": (
        block(row(1, "x", 0, "root"), row(2, "y", 1, "b"), row(3, "z", 0, "root")),
        r"several roots \(words 1, 3",
    ),
    "repeated id": (block(row(1, "x", 0, "root"), row(1, "y", 1, "dep")), "ID '1' where 2"),
    "jumping id": (block(row(1, "x", 0, "root"), row(3, "y", 1, "dep")), "ID '3' where 2"),
    "first id 0": (block(row(0, "x", 0, "root")), "ID '0' where 1"),
    "id in letters": (block(row("a", "x", 0, "root")), "ID 'a' where 1"),
    "bom in the middle": (SHORT + "\ufeff" + SHORT, "ID .*ufeff1' where 1"),
    "jumping empty node": (block(row(1, "x", 0, "root"), row("1.2", "y")), r"ID '1\.2' where 2"),
    "empty node too early": (block(row("1.1", "y"), row(1, "x", 0, "root")), r"ID '1\.1' where 1"),
    "range backwards": (block(row("2-1", "xy"), row(1, "x", 0, "root")), "ID '2-1' where 1"),
    "range too late": (block(row(1, "x", 0, "root"), row("1-2", "xy")), "ID '1-2' where 2"),
    "overlapping ranges": (
        block(row("1-2", "xy"), row(1, "x", 0, "root"), row("2-3", "yz"), row(2, "y", 1, "a")),
        "ID '2-3' where 2",
    ),
    "range beyond the end": (block(row("1-3", "xyz"), row(1, "x", 0, "root")), "ends at word 3"),
    "no word": (block(row("0.1", "x")), "no word in this sentence"),
}


@pytest.mark.parametrize("name", BAD)
def test_message_has_place_value_and_remedy(name):
    text, message = BAD[name]
    with pytest.raises(ConlluError, match=message) as caught:
        docs("# sent_id = s\n" + text)
    assert str(caught.value).startswith("<text>:")


@pytest.mark.parametrize("name", BAD)
def test_skipped_counted_and_listed(name):
    report = ReadReport()
    found = docs(SHORT + BAD[name][0] + SHORT, skip_bad=True, report=report)
    wanted = 3 if name == "bom in the middle" else 2
    assert len(found) == wanted
    assert report.skipped.total() == len(report.errors) == 1
    assert report.errors[0].reason in report.skipped


def test_file_line_and_sent_id(tmp_path):
    path = tmp_path / "broken.conllu"
    path.write_text(SHORT + "# sent_id = no7\n" + row(1, "x", 7, "dep"), encoding="utf-8")
    with pytest.raises(ConlluError, match=r"broken\.conllu:5: sentence no7: HEAD 7"):
        list(read_conllu(path, Vocab()))


def test_not_utf8(tmp_path):
    path = tmp_path / "latin.conllu"
    path.write_bytes(SHORT.encode() + row(1, "\xe9t\xe9", 0, "root").encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin\.conllu:4: not UTF-8 \(byte 0xE9 at column 3\)"):
        list(read_conllu(path, Vocab()))
    report = ReadReport()
    assert len(list(read_conllu(path, Vocab(), skip_bad=True, report=report))) == 1
    assert report.skipped == {"encoding": 1}
    *_, last = read_conllu(path, Vocab(), encoding="latin-1")
    assert last.text == "été"


def test_nothing_left_after_skipping():
    with pytest.raises(ConlluError, match=r"no sentences found in <text> \(.*2 self-head;"):
        docs(block(row(1, "x", 1, "dep")) * 2, skip_bad=True)
