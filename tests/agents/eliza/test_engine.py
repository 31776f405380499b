"""Eliza's engine and the sanity of her script."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.eliza.engine import (
    CLAUSE_WORDS,
    HEARD_CHARACTERS,
    MEMORIES,
    QUOTED_CHARACTERS,
    Eliza,
    Pattern,
    clauses,
    quote,
    reflect,
)
from agents.eliza.script import (
    KEYWORDS,
    MEMORY,
    NEXT,
    NO_KEYWORD,
    REFLECTIONS,
    SUBSTITUTIONS,
    DecompositionRule,
)

BY_WORD = {word: keyword for keyword in KEYWORDS for word in keyword.words}
RULES = [*chain.from_iterable(keyword.rules for keyword in KEYWORDS), MEMORY, NO_KEYWORD]

# Talk that finds keywords, and texts that nobody has thought of.
talk = st.lists(
    st.sampled_from([*BY_WORD, *SUBSTITUTIONS, "mother", "sad", "cats", "but", ".", "the", "\n"])
).map(" ".join)
texts = talk | st.text()


# The script.


def test_the_script_has_many_keywords_and_no_word_twice() -> None:
    words = [word for keyword in KEYWORDS for word in keyword.words]
    assert len(KEYWORDS) >= 30
    assert len(words) == len(set(words))
    assert all(word == word.lower() for word in words)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_a_reply_quotes_only_what_its_pattern_finds(rule: DecompositionRule) -> None:
    pattern = Pattern.of(rule.pattern)
    slots = [slot for stretch in pattern.stretches for slot in stretch.slots if slot.numbered]
    numbered = len(pattern.stretches) + 1 + len(slots)
    assert rule.replies
    for reply in rule.replies:
        numbers = [int(number) for number in re.findall(r"{(\d+)}", reply)]
        assert all(1 <= number <= numbered for number in numbers)
        assert "{" not in re.sub(r"{\d+}", "", reply)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_what_is_quoted_from_a_last_gap_is_never_empty(rule: DecompositionRule) -> None:
    if rule.pattern.endswith("*"):
        pattern = Pattern.of(rule.pattern)
        slots = [slot for stretch in pattern.stretches for slot in stretch.slots if slot.numbered]
        last = len(pattern.stretches) + 1 + len(slots)
        assert not any(f"{{{last}}}" in reply for reply in rule.replies)


def test_every_goto_leads_to_a_keyword_and_none_in_a_circle() -> None:
    def gotos(word: str, passed: tuple[str, ...] = ()) -> None:
        assert word not in passed
        for rule in BY_WORD[word].rules:
            for reply in rule.replies:
                if reply.startswith("="):
                    gotos(reply[1:], (*passed, word))

    for keyword in KEYWORDS:
        gotos(keyword.words[0])


def test_the_last_resort_never_gives_way() -> None:
    assert NO_KEYWORD.pattern == "*"
    assert NEXT not in NO_KEYWORD.replies


# Patterns.


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("*", "", [""]),
        ("+", "", None),
        ("+", "a", ["a"]),
        ("* i am +", "well i am sad", ["well", "sad"]),
        ("* i am +", "i am", None),
        ("* i am +", "i was and i am late", ["i was and", "late"]),
        ("+ i am *", "i am what i am", ["i am what", ""]),
        ("* my * @family +", "my old mother sings", ["", "old", "mother", "sings"]),
        ("* am|was i *", "was i right", ["", "right"]),
        ("* you * me *", "me you", None),
        ("* * i *", "so i", ["", "so", ""]),
    ],
)
def test_a_pattern_finds_what_stands_in_its_gaps_and_groups(
    pattern: str, text: str, found: list[str] | None
) -> None:
    words = text.split()
    slices = Pattern.of(pattern).match(words)
    assert found == (slices and [" ".join(words[part]) for part in slices])


def test_a_pattern_without_a_gap_at_its_end_is_refused() -> None:
    with pytest.raises(ValueError, match="ends with a gap"):
        Pattern.of("* i am")


words_ab = st.lists(st.sampled_from("ab"), max_size=8)


@given(st.lists(st.sampled_from(["a", "b", "*", "+", "a|b"]), max_size=5), words_ab)
def test_a_pattern_fits_what_the_same_regular_expression_fits(
    items: list[str], words: list[str]
) -> None:
    pattern = ["*", *items, "+"]
    meaning = {"*": ".*", "+": ".+", "a|b": "[ab]"}
    expression = "".join(meaning.get(item, item) for item in pattern)
    fits = re.fullmatch(expression, "".join(words)) is not None
    assert (Pattern.of(" ".join(pattern)).match(words) is not None) is fits


# Clauses and reflection.


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("", []),
        (" \n . ", []),
        ("Hello, world! How are you?", [["Hello"], ["world"], ["How", "are", "you"]]),
        ("I'd go but I can't", [["I'd", "go"], ["I", "can't"]]),
        ("but", []),
        ("one\ntwo", [["one"], ["two"]]),
        ("a “quoted” **word** (here) and on", [["a", "quoted", "word", "here"], ["and", "on"]]),
        ("well — yes", [["well"], ["yes"]]),
        ("don\u2019t", [["don't"]]),
        ("see foo.py now", [["see", "foo.py", "now"]]),
    ],
)
def test_a_text_falls_into_clauses(text: str, heard: list[list[str]]) -> None:
    assert list(clauses(text)) == heard


def test_a_clause_has_its_longest_length() -> None:
    assert [len(clause) for clause in clauses("word " * (CLAUSE_WORDS + 1))] == [CLAUSE_WORDS, 1]


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("I am yours", "you are mine"),
        ("you are my friend", "I am your friend"),
        ("I was where you were", "you were where I was"),
        ("you hate me", "I hate you"),
        ("to leave you", "to leave me"),
        ("you to go", "me to go"),
        ("they are late", "they are late"),
        ("Bach and my Dog", "Bach and your Dog"),
        ("", ""),
    ],
)
def test_words_are_seen_from_the_other_side(said: str, seen: str) -> None:
    assert " ".join(reflect(said.split())) == seen


@given(st.lists(st.text() | st.sampled_from([*REFLECTIONS, "you", "are", "was", "were"])))
def test_reflection_keeps_the_number_of_words(words: list[str]) -> None:
    assert len(reflect(words)) == len(words)


@given(st.lists(st.sampled_from(["the", "cats", "like", "are", "was", "milk"])))
def test_reflection_keeps_words_that_are_nobodys(words: list[str]) -> None:
    assert reflect(words) == words


@given(st.lists(st.sampled_from(["my", "your", "mine", "yours", "myself", "yourself", "cats"])))
def test_reflecting_twice_gives_back_what_belongs_to_somebody(words: list[str]) -> None:
    assert reflect(reflect(words)) == words


def test_what_is_quoted_is_cut_at_a_word() -> None:
    quoted = quote(["word"] * 100)
    assert quoted.endswith(" word ...")
    assert len(quoted) <= QUOTED_CHARACTERS + len(" ...")


# Talk.


def conversation(*heard: str) -> list[str]:
    eliza = Eliza()
    return [eliza.hear(text) for text in heard]


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("Hello", "How do you do. What brings you here?"),
        ("I AM SAD!", "I am sorry to hear that you are SAD."),
        ("im tired of it, and I need a break", "What goes through your head"),
        ("I need a bed", "What would it mean to you to get a bed?"),
        ("I need my bed", "Your bed?"),
        ("Hello. I dreamt of you, my friend", "Really, me? What did it feel like?"),
        ("my old mother sings", "Tell me more about your family."),
        ("Are you late", "Why does it interest you whether I am late?"),
        ("Hello. I recollect it", "Do you often think of it?"),
        ("what if", "What makes you ask?"),  # "if" ranks higher, but nothing follows it
        ("why?", "What makes you ask?"),
        ("I think you are kind", "What makes you think I am kind?"),
        ("Am I kind", "Do you believe you are kind?"),
        ("You bore me", "Why do you think I bore you?"),
        ("I like green tea", "What do you find in green tea?"),
        ("No one knows", "Whom do you mean above all?"),
        ("nothing known here", "I am not sure I follow you."),
        ("{0} {boom}", "I am not sure I follow you."),
        ("I want a{0}b", "What would it mean to you to get a{0}b?"),
    ],
)
def test_she_answers_by_the_script(said: str, answered: str) -> None:
    (answer,) = conversation(said)
    assert answer.startswith(answered)


def test_replies_of_a_rule_take_turns_and_begin_anew() -> None:
    answers = conversation(*["because"] * 5)
    assert len(set(answers[:4])) == 4
    assert answers[4] == answers[0]


def test_a_reply_may_give_way_to_the_next_keyword() -> None:
    """The rule of "please" gives way the first time."""
    first, second = conversation("please stay", "please stay")
    assert first == NO_KEYWORD.replies[0]
    assert second == "You are very polite. Why should I be the one to stay?"


def test_what_was_said_of_mine_comes_back_when_there_is_nothing_else() -> None:
    answers = conversation("My dog ate the homework.", "My cat did not.", "Hm", "Hm", "Hm")
    assert "dog ate the homework" in answers[2]
    assert "cat did not" in answers[3]
    assert answers[4] == NO_KEYWORD.replies[0]


def test_memories_are_bounded() -> None:
    eliza = Eliza()
    for number in range(MEMORIES + 1):
        eliza.hear(f"My number {number}")
    *recalled, last = [eliza.hear("Hm") for _ in range(MEMORIES + 1)]
    assert "number 1" in recalled[0]
    assert f"number {MEMORIES}" in recalled[-1]
    assert last == NO_KEYWORD.replies[0]


@pytest.mark.limit("agents.eliza.engine.HEARD_CHARACTERS")
def test_of_a_long_text_the_beginning_is_heard() -> None:
    talk = "so " * (HEARD_CHARACTERS // 3)
    (answer,) = conversation(f"{talk} because")
    assert answer == NO_KEYWORD.replies[0]


def test_chance_comes_from_outside() -> None:
    asked: list[int] = []

    def choose(number: int) -> int:
        asked.append(number)
        return number - 1

    eliza = Eliza(choose)
    assert eliza.hear("because") == eliza.hear("because")
    assert asked == [4, 4]


@given(st.lists(texts))
def test_the_same_texts_give_the_same_answers(heard: list[str]) -> None:
    eliza, again = Eliza(), Eliza()
    assert [eliza.hear(text) for text in heard] == [again.hear(text) for text in heard]


@given(st.lists(texts), st.lists(texts))
def test_two_conversations_never_touch(mine: list[str], others: list[str]) -> None:
    alone = conversation(*mine)
    eliza, other = Eliza(), Eliza()
    answers: list[str] = []
    for number, text in enumerate(mine):
        other.hear(others[number] if number < len(others) else "My, my!")
        answers.append(eliza.hear(text))
    assert answers == alone


@given(texts)
def test_every_answer_is_a_short_text_without_traces_of_the_script(text: str) -> None:
    (answer,) = conversation(text)
    assert answer.strip()
    assert answer[0] == answer[:1].upper()
    assert not answer.startswith(("=", NEXT))
    assert len(answer) < 500


@pytest.mark.parametrize(
    "piece",
    ["a", "a ", "my ", "i am you ", "\n", ".", ". ", "!a", "'", "\u00a0", "\U0001f600 ", "\ud800"],
)
def test_a_megabyte_of_anything_is_answered(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    (answer,) = conversation(text)
    assert 0 < len(answer) < 500
    assert conversation(text[:HEARD_CHARACTERS]) == [answer]
