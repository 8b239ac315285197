"""One word for each multiword token, so that the words spell ``# text``.

The merged word takes FORM and MISC from the range line and all other columns from the word of the
range that is nearest to the root (the first of several): its head lies outside the range, and since
a merged word then hangs on a word nearer to the root, no cycle can arise. Enhanced edges inside a
range vanish. The words of a range can't be told from the merged word again.
"""

from .read import DEPS, FORM, HEAD, ID, MISC, Sentence


def merge_ranges(sentence: Sentence) -> Sentence:
    """A sentence without multiword tokens; the same object where there is none."""
    ranges = list(sentence.ranges())
    if not ranges:
        return sentence
    groups = _groups(len(sentence.words), ranges)
    ids = _new_ids(sentence, groups)
    depths = _depths([cells[HEAD] for cells in sentence.words])
    surface = {start: cells for start, _, cells in ranges}
    words: list[list[str]] = []
    for start, end in groups:
        top = min(range(start, end), key=depths.__getitem__)
        cells = list(sentence.words[top])
        if start in surface:
            cells[FORM], cells[MISC] = surface[start][FORM], surface[start][MISC]
        deps = [sentence.words[word][DEPS] for word in range(start, end)]
        words.append(_renumber(cells, deps, ids, str(len(words) + 1)))
    others = []
    for _, line in sentence.others:
        cells = line.split("\t")
        if line[0] == "#" or "-" in cells[ID]:
            continue
        new = _renumber(cells, [cells[DEPS]], ids, ids[cells[ID]])
        others.append((int(new[ID].partition(".")[0]), "\t".join(new)))
    comments = [*sentence.comments, *(line for _, line in sentence.others if line[0] == "#")]
    return Sentence(comments, words, others, sentence.starts_doc, sentence.tail)


def _groups(n_words: int, ranges: list[tuple[int, int, list[str]]]) -> list[tuple[int, int]]:
    ends = {start: end for start, end, _ in ranges}
    groups = []
    word = 0
    while word < n_words:
        end = ends.get(word, word + 1)
        groups.append((word, end))
        word = end
    return groups


def _new_ids(sentence: Sentence, groups: list[tuple[int, int]]) -> dict[str, str]:
    """Old ID -> new ID, of words and empty nodes. An empty node in a range moves behind it."""
    ids = {"0": "0", "_": "_"}
    merged_into = [0]
    for number, (start, end) in enumerate(groups, 1):
        ids.update((str(word + 1), str(number)) for word in range(start, end))
        merged_into += [number] * (end - start)
    counts: dict[int, int] = {}
    for position, line in sentence.others:
        identifier = line.split("\t", 1)[0]
        if "." in identifier and line[0] != "#":
            number = merged_into[position]
            counts[number] = counts.get(number, 0) + 1
            ids[identifier] = f"{number}.{counts[number]}"
    return ids


def _depths(heads: list[str]) -> list[int]:
    """Steps up from each word to the root, or to a word without HEAD."""
    depths: dict[int, int] = {}
    for word in range(len(heads)):
        below = []
        while word not in depths and heads[word] not in ("0", "_"):
            below.append(word)
            word = int(heads[word]) - 1
        depth = depths.setdefault(word, 0)
        depths |= {each: depth + steps for steps, each in enumerate(reversed(below), 1)}
    return [depths[word] for word in range(len(heads))]


def _renumber(cells: list[str], deps: list[str], ids: dict[str, str], new_id: str) -> list[str]:
    cells = list(cells)
    cells[ID] = new_id
    cells[HEAD] = ids.get(cells[HEAD], cells[HEAD])
    edges = set()
    for item in (item for value in deps if value != "_" for item in value.split("|")):
        head, colon, label = item.partition(":")
        head = ids.get(head, head)
        if head != new_id:
            edges.add((_by_number(head), label, head + colon + label))
    cells[DEPS] = "|".join(edge for *_, edge in sorted(edges)) or "_"
    return cells


def _by_number(identifier: str) -> tuple[int, ...]:
    """Where an ID stands among others: 2, 2.1, 2.2, 10. Malformed ones come first."""
    parts = identifier.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
