"""The language of files, and its vocab."""

from pathlib import Path

from spacy.util import get_lang_class
from spacy.vocab import Vocab, create_vocab

# UD's code covers both written standards; spaCy knows each under its own.
_LANGUAGES = {"no": "nb"}


def language_of(path: Path) -> str:
    """The language code for spaCy by a treebank file's name: en_ewt-ud-train.conllu gives 'en'.

    'xx' (multi-language) where the name has no code or spaCy does not know it.
    """
    head, dash, _ = path.name.partition("-ud-")
    code = head.partition("_")[0]
    code = _LANGUAGES.get(code, code)
    return code if dash and _is_known(code) else "xx"


def vocab_for(lang: str) -> Vocab:
    """A Vocab with the language's lexical attributes; loads no tokenizer.

    Raises ValueError where spaCy does not know the language.
    """
    if not _is_known(lang):
        raise ValueError(f"spaCy has no language {lang!r}; use xx for any other language")
    return create_vocab(lang, get_lang_class(lang).Defaults)


def _is_known(code: str) -> bool:
    try:
        get_lang_class(code)
    except ImportError:
        return False
    return True
