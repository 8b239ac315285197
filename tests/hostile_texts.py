"""About a hundred texts that break programs, by kind."""

from itertools import chain

KINDS: dict[str, list[str]] = {
    "nothing": ["", " ", "   ", "\t", "\n", "\n\n\n", "\r\n", "\xa0", "\u2003\u3000", "\u2028\x85"],
    "blanks among words": [
        "a  b",
        " a",
        "a ",
        "a\n\nb",
        "a\tb\r\nc",
        "\u3000a\u2028b\xa0",
        "a\x0bb\x0c",
    ],
    "control characters": [
        *(f"rain{chr(code)}fell{chr(code)} ." for code in (1, 7, 8, 27, 28, 31, 127, 128, 159)),
        "\x1b[31mred\x1b[0m",
    ],
    "null bytes": ["\0", "rain\0fell .", "\0" * 50, "a\0 \0b \0"],
    "right to left": [
        "מה שלומך היום?",
        "سلام عليكم . كيف حالك ؟",
        "\u202eright to left\u202c",
        "\u2067isolated\u2069 \u200f mixed עברית and English 123",
        "שָׁלוֹם",
    ],
    "emoji": [
        "👩‍👩‍👧‍👦",
        "🏳️‍🌈 and 👍🏽👍🏿",
        "🇳🇴🇸🇪🇫",
        "1️⃣ #️⃣ ☠️☠",
        "😀" * 100,
        "a😀b 😀c",
        "\u200d👩\u200d",
    ],
    "marks": ["e\u0301" * 40, "\u0301", "Z" + "\u0337\u0316" * 60, "한글 각", "क्षि हिन्दी", "ก็"],
    "invisible letters": [
        "\u200b",
        "\u200b\u200d\ufeff",
        "\ufeffrain",
        "so\xadft hy\xadphen",
        "a\u2060b",
    ],
    "no letters": ["\ufffe\uffff", "\ufdd0 rain", "\U0010ffff\U000e0001", "\ue000", "\ufffd\ufffd"],
    "long words": ["x" * 10_000, "é" * 3_000, "-" * 1_000, "1" * 500, "https://a.b/" + "c/" * 300],
    "many words": [
        "word " * 500,
        ". " * 300,
        "a\n" * 200,
        "Rain fell . " * 100,
        "漢字仮名交じり文。" * 40,
    ],
    "markup": [
        "<script>alert('x')</script>",
        "</textarea></style><img src=x onerror=alert(1)>",
        "&lt;b&gt; &amp; &#0; ]]> <!-- -->",
        "{text} {0} %s ${HOME} `id` $(id)",
        "\\u0041 \\ud800 \\n \\",
        "' OR 1=1 --; DROP TABLE docs",
    ],
    "marks of file formats": [
        "# text = a",
        "#doc 1",
        "# newdoc id = x",
        "1\tRain\t_\t_\t_\t_\t0\troot\t_\t_",
        "_",
        "_ | - * #",
        "1-2 3.1 0",
        "(A0* *) (V*)",
        "B-LOC I- O",
        "-DOCSTART- -X- O O",
        '{"text": "a"}',
        "[]",
        "null",
        "SpaceAfter=No|A=b",
        "a\\tb\\sc",
    ],
    "other scripts": [
        "今日は雨が降りました。",
        "วันนี้ฝนตก",
        "Сегодня шёл дождь.",
        "आज बारिश हुई।",
        "ዛሬ ዘነበ።",
        "𒀀𒁀 𓀀𓂀 𐌰𐌱",
        "᠎ᠮᠣᠩᠭᠣᠯ",
        "ཨོཾ་མ་ཎི་པདྨེ་ཧཱུྃ",
    ],
    "odd letters": ["ß İ ı ǅ ﬁ", "٣٤٥ ½ Ⅻ ①", "NaN inf -0 1e999", "𝕽𝖆𝖎𝖓 𝒻ℯ𝓁𝓁", "ǆ" * 30, "Ａ１．"],
}

TEXTS = list(chain.from_iterable(KINDS.values()))

SHORT = [text for text in TEXTS if len(text) <= 400]
"""Those that many things can be tried on."""
