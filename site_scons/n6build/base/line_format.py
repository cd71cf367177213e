"""A line of text that C writes and Python reads, in one description.

The template of a line has words, and fields in braces:

    n6 demo {name:word} slot={slot:a|b} bytes={bytes:number} [crc={crc:hex}] ok

Square brackets enclose words that a program may leave out. A reader skips words such as `key=value`
that the template does not have, so a later program can add them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Kind:
    """A kind of field.

    Attributes:
        form: Pattern of the value; None if it is the rest of the line.
        said: Form of the value in words.
        members: Members of the C struct.
        put: C statements that write the value.
        is_pointer: The first member is a pointer, NULL for an optional value that is left out.
    """

    form: re.Pattern[str] | None
    said: str
    members: tuple[str, ...]
    put: tuple[str, ...]
    is_pointer: bool = False


KINDS = {
    # More digits are noise on the line.
    "number": Kind(re.compile("[0-9]{1,19}"), "decimal", ("uint32_t {}",), ("n6_put_u32(line->{0});",)),
    "hex": Kind(
        re.compile("0x[0-9a-f]{8}"), "0x and 8 hexadecimal digits", ("uint32_t {}",), ("n6_put_hex32(line->{0});",)
    ),
    "word": Kind(re.compile(r"\S+"), "without spaces", ("const char *{}",), ("n6_put(line->{0});",), is_pointer=True),
    "bytes": Kind(
        re.compile("(?:[0-9a-fA-F]{2})*"),
        "two hexadecimal digits a byte",
        ("const uint8_t *{}", "uint32_t {}_bytes"),
        ("n6_put_bytes(line->{0}, line->{0}_bytes);",),
    ),
    # Most texts are an error and the thing that has it.
    "text": Kind(
        None,
        "with spaces",
        ("const char *{}", "const char *{}_of"),
        ("n6_put(line->{0});", 'n6_put(line->{0}_of != NULL ? line->{0}_of : "");'),
        is_pointer=True,
    ),
}
_WORDS = re.compile(r"(?:\{[^}]*\}|[^\s{])+")
_WORD = re.compile(r"([^{]*)(?:\{(\w+):([^}]+)\})?")


@dataclass(frozen=True)
class Field:
    """A value in a line.

    Attributes:
        name: Name of the value.
        kind: Kind of the value, a key of KINDS; or the words that it can be, with `|` between them.
    """

    name: str
    kind: str

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the words that the value can be, empty for a kind."""
        return () if self.kind in KINDS else tuple(self.kind.split("|"))

    @property
    def has_names(self) -> bool:
        """Return whether C has names for the choices.

        A bool, or letters that count, need none.
        """
        return bool(self.choices) and len(self.choices[0]) > 1 and not self.name.startswith("is_")


@dataclass(frozen=True)
class Word:
    """A word of a template: literal text, then at most one field."""

    literal: str
    field: Field | None = None

    @property
    def is_keyed(self) -> bool:
        """Return whether it has the form `key={field}`."""
        return self.field is not None and self.literal.endswith("=")

    @property
    def name(self) -> str:
        """Return the name of its value."""
        return self.field.name if self.field else re.sub(r"\W", "_", self.literal)

    def value(self, words: Sequence[str], at: int, behind: int) -> tuple[str, int] | None:
        """Return the value at a place of a line, and the place behind it.

        Another word has no value: None.

        Args:
            words: Words of the line.
            at: Index of the first one to look at.
            behind: Number of words that the template has behind this one.
        """
        kind = self.field and KINDS.get(self.field.kind)
        if kind and not kind.form:
            end = len(words) - behind
            return (" ".join(words[at:end]), end) if at < end else None
        for choice in (self.literal,) if self.field is None else self.field.choices:
            expected = choice if self.field is None else self.literal + choice
            end = at + expected.count(" ") + 1
            if " ".join(words[at:end]) == expected:
                return choice, end
        if not kind or not kind.form or not words[at].startswith(self.literal):
            return None
        value = words[at][len(self.literal) :]
        return (value, at + 1) if kind.form.fullmatch(value) else None


@dataclass(frozen=True)
class Group:
    """Neighbouring words, which an optional group leaves out together."""

    words: tuple[Word, ...]
    is_optional: bool

    @property
    def condition(self) -> tuple[str, str]:
        """Return the C member and the C test that decide about an optional group.

        The member is empty if a pointer of the group decides.
        """
        field = next((word.field for word in self.words if word.field), None)
        if field and field.kind in KINDS and KINDS[field.kind].is_pointer:
            return "", f"line->{field.name} != NULL"
        member = f"has_{field.name}" if field else self.words[0].name
        return member, f"line->{member}"


@dataclass(frozen=True)
class Line:
    """A line of the console.

    Attributes:
        name: Part of the names in C: `n6_line_<name>` writes the line.
        template: Its words and fields. Text in front of other words cannot have optional ones behind it.
        note: Sentence about its meaning.
        breaks_in: Begin with a line break, because the program may have been printing another line.
    """

    name: str
    template: str
    note: str
    breaks_in: bool = False

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the words in their order."""
        parts = re.split(r" ?(\[[^\]]*\]) ?", self.template)
        return tuple(
            Group(tuple(map(_word, _WORDS.findall(part.strip("[]")))), is_optional=part.startswith("["))
            for part in parts
            if part
        )

    @cached_property
    def head(self) -> str:
        """Return the literal words at the start, by which a reader recognises the line."""
        return re.split(r" (?=\S*\{|\[)", self.template, maxsplit=1)[0]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields in their order."""
        return tuple(word.field for group in self.groups for word in group.words if word.field)

    def read(self, line: str, *needed: str) -> Mapping[str, str] | None:
        """Return the values of a line by their names.

        Another line, or a damaged one, has none: None. An optional word without a field is its own value.

        Args:
            line: Line without its end.
            needed: Names of those `key={field}` that have to be there; none: all that are not optional.
        """
        if not line.startswith(self.head):
            return None
        words, at, values = line.split(" "), 0, dict[str, str]()
        for number, (word, is_optional) in enumerate(self._flat):
            found = _next(word, words, at, len(self._flat) - number - 1)
            if found is not None:
                value, at = found
                if word.field or is_optional:
                    values[word.name] = value
            elif not is_optional and not (needed and word.is_keyed):
                return None
        is_whole = all("=" in word for word in words[at:]) and values.keys() >= set(needed)
        return values if is_whole else None

    @cached_property
    def _flat(self) -> tuple[tuple[Word, bool], ...]:
        return tuple((word, group.is_optional) for group in self.groups for word in group.words)

    def members(self) -> Iterator[tuple[str, str]]:
        """Yield the members of the C struct, each with its comment."""
        for group in self.groups:
            if group.is_optional and group.condition[0]:
                yield f"bool {group.condition[0]}", ""
            for field in (word.field for word in group.words if word.field):
                if field.choices:
                    yield f"uint32_t {field.name}", ", ".join(f"{at}: {word}" for at, word in enumerate(field.choices))
                    continue
                kind = KINDS[field.kind]
                for member in kind.members:
                    is_null = (group.is_optional and kind.is_pointer) or member.endswith("_of")
                    yield member.format(field.name), "or NULL" if is_null else ""

    def statements(self) -> Iterator[str]:
        """Yield the statements of the C function that writes the line."""
        before = "\\r\\n" if self.breaks_in else ""
        for group in self.groups:
            written = list(_written(group.words, before))
            if group.is_optional:
                written = [f"if ({group.condition[1]}) {{", *(f"    {each}" for each in written), "}"]
            yield from written
            before = " "
        yield "n6_put_end();"


def _written(words: tuple[Word, ...], before: str) -> Iterator[str]:
    """Yield C statements that write words.

    Literal text is collected, since each call costs code.
    """
    literal = before
    for number, word in enumerate(words):
        literal += (" " if number else "") + word.literal
        if word.field:
            if literal:
                yield f'n6_put("{literal}");'
            yield from _put(word.field)
            literal = ""
    if literal:
        yield f'n6_put("{literal}");'


def _put(field: Field) -> Iterator[str]:
    if not field.choices:
        yield from (each.format(field.name) for each in KINDS[field.kind].put)
        return
    *others, last = (f'"{choice}"' for choice in field.choices)
    tests = "".join(f"line->{field.name} == {at}u ? {choice} : " for at, choice in enumerate(others))
    yield f"n6_put({tests}{last});"


def _word(text: str) -> Word:
    match = _WORD.fullmatch(text)
    assert match, f"{text} is no word of a template"
    return Word(match[1], Field(match[2], match[3]) if match[2] else None)


def _next(word: Word, words: Sequence[str], at: int, behind: int) -> tuple[str, int] | None:
    """Return the value of the next such word, and the place behind it.

    Unknown words `key=value` in front of it are skipped.
    """
    for place in range(at, len(words)):
        found = word.value(words, place, behind)
        if found or "=" not in words[place]:
            return found
    return None
