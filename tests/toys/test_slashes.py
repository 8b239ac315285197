"""The toy form of CONTRIBUTING.md."""

import pytest
from slashes import SLASHES
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_biaffine.formats.convert.plan import Job
from spacy_biaffine.formats.convert.run import convert


def test_there_and_back(tmp_path):
    path = tmp_path / "a.slashes"
    path.write_text(SLASHES.sample["a.slashes"], encoding="utf-8")
    assert SLASHES.fits(path)
    convert(Job([path], tmp_path / "a.spacy", SLASHES, None), {})
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(Vocab())
    assert [token.tag_ for token in doc] == ["NN", "VBD"]
    convert(Job([tmp_path / "a.spacy"], tmp_path / "b.slashes", None, SLASHES), {})
    assert (tmp_path / "b.slashes").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_what_is_bad_is_named_or_left_out(tmp_path):
    path = tmp_path / "a.slashes"
    path.write_text("Rain/NN\nfell\nUs/PRP\n", encoding="utf-8")
    job = Job([path], tmp_path / "a.spacy", SLASHES, None)
    with pytest.raises(ValueError, match=r"a\.slashes:2: 'fell' is no word/TAG"):
        convert(job, {})
    assert not job.target.exists()
    result = convert(job, {}, skip_bad=True)
    assert (result.docs, dict(result.report.skipped)) == (2, {"tag": 1})
