"""Eliza's script, as data, after Weizenbaum's DOCTOR (CACM 9:1, January 1966).

The rules of her answers (`agents.eliza.engine` applies them):

1. A text falls into clauses at punctuation, at line ends and at "but". She attends to the clause
   with the keyword of the highest rank, the first one of equals.
2. `SUBSTITUTIONS` bring its words into the form that the script knows ("im" -> "i am").
3. The clause's keywords are tried by rank, then in order of appearance. A keyword's rules are tried
   in order; the first whose pattern fits gives the answer, by one of its replies, each in its turn.
4. A clause with "my" in it leaves a memory behind (`MEMORY`). If no keyword has an answer, she
   brings up the oldest memory. Without a memory, `NO_KEYWORD` keeps the talk going.

A pattern is a list of words that begins and ends with a gap:

    *          a gap of any number of words        gaps and groups are numbered, from 1,
    +          a gap of at least one word          in the order in which they stand
    @family    one word of that group of `SYNONYMS`
    am|was     one of these words

A reply is text. `{n}` stands for the n-th gap or group, seen from Eliza's side (`REFLECTIONS`: "my"
-> "your"). `=word` continues with the rules of that keyword, and `NEXT` with the clause's next
keyword.

Hooks. A message that begins with one of these is not heard by the script at all. It makes Eliza do
what a real agent does, so that everything round her can be tried without one
(`agents.eliza.hooks`):

    !hang                   say a few words, then stay silent until cancelled
    !think                  think aloud, then answer
    !error                  say a few words, then fail; the session lives on
    !long N                 answer with at least N words (ten millions at most)
    !tool NAME {json}       call a tool of the editor's and show its result; several such lines
                            are calls made in parallel
    !permission TITLE       ask for permission, then say whether it was given
    !form                   ask for input with a form, then say what came of it
    !form url ADDRESS       ask to open a web page, then say what came of it

Each can also be written with `hook:` in place of the exclamation mark, such as `hook:hang`: VS
Code's Agent Host runs what follows a leading exclamation mark in a shell, and doesn't send it.

They work in the newest message only. In a history that is replayed they do nothing.
"""

from __future__ import annotations

from typing import Any, Final

from bridge.value import Value

NEXT: Final = "!next"
"""The reply that gives way to the clause's next keyword."""


class DecompositionRule(Value):
    """Answer what fits `pattern` by one of `replies`."""

    pattern: str
    replies: tuple[str, ...]


class Keyword(Value):
    """Words that call for the same rules; a higher rank is heard first."""

    words: tuple[str, ...]
    rank: int
    rules: tuple[DecompositionRule, ...]


def _keyword(words: str, rank: int, *rules: DecompositionRule) -> Keyword:
    return Keyword(tuple(words.split()), rank, rules)


def _rule(pattern: str, *replies: str) -> DecompositionRule:
    return DecompositionRule(pattern, replies)


_CONTRACTIONS = {
    "i'm": "i am",
    "i've": "i have",
    "you're": "you are",
    "you've": "you have",
    "they're": "they are",
    "what's": "what is",
    "who's": "who is",
    "that's": "that is",
}
_NEGATIONS = ("don't", "can't", "won't", "didn't", "doesn't", "isn't", "wasn't", "couldn't")

SUBSTITUTIONS: Final[dict[str, str]] = {
    **_CONTRACTIONS,
    **{word.replace("'", ""): becomes for word, becomes in _CONTRACTIONS.items()},
    **{word.replace("'", ""): word for word in _NEGATIONS},
    "cannot": "can't",
    "i'd": "i would",
    "i'll": "i will",
    "you'll": "you will",
    "it's": "it is",
    "u": "you",
    "ur": "your",
    "recall": "remember",
    "recollect": "remember",
    "wanna": "want to",
    "gonna": "going to",
    "gotta": "have to",
    "plz": "please",
}

REFLECTIONS: Final[dict[str, str]] = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "am": "are",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}
"""Single words seen from the other side; "you" is the engine's."""

VERBS: Final[dict[tuple[str, str], str]] = {
    ("i", "was"): "were",
    ("you", "are"): "am",
    ("you", "were"): "was",
}
"""The forms of verbs after a pronoun that changes."""

AFTER_OBJECT: Final = frozenset(
    {
        *("about", "again", "all", "also", "and", "anymore", "as", "at", "away", "back", "because"),
        *("before", "dearly", "for", "from", "in", "into", "like", "more", "most", "much", "of"),
        *("on", "once", "or", "over", "so", "somehow", "than", "that", "then", "this", "to"),
        *("today", "tomorrow", "tonight", "too", "very", "well", "what", "when", "where"),
        *("while", "who", "why", "with", "without"),
    }
)
"""Words before which "you" is rather an object ("I want you to go") than a subject ("you go")."""

SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "belief": ("believe", "feel", "guess", "suppose", "think", "wish"),
    "family": (
        *("mother", "mom", "mum", "father", "dad", "parents", "parent"),
        *("sister", "brother", "siblings", "wife", "husband", "partner"),
        *("son", "daughter", "child", "children", "kids", "aunt", "uncle"),
        *("grandmother", "grandma", "grandfather", "grandpa", "cousin"),
    ),
    "sad": (
        *("sad", "unhappy", "depressed", "miserable", "down", "hopeless", "hurt"),
        *("upset", "frustrated", "exhausted", "sick", "stressed", "lost", "stuck"),
    ),
    "happy": (
        *("happy", "glad", "better", "relieved", "cheerful", "excited", "proud"),
        *("delighted", "calm", "content", "grateful"),
    ),
    "wants": ("want", "need", "desire", "crave"),
    "be": ("am", "is", "are", "was", "were", "be"),
}

# Rank 0 is small talk, 50 and more can't be passed over.
KEYWORDS: Final[tuple[Keyword, ...]] = (
    _keyword(
        "suicide suicidal",
        100,
        _rule(
            "*",
            "I am only a small program, and this deserves a human being. Please talk to someone "
            "you trust, or to a crisis line where you live, now.",
            "Please don't carry that alone. A friend, a doctor or a crisis line can do what "
            "a program can't. Is there somebody you could call right away?",
        ),
    ),
    _keyword(
        "computer computers machine machines robot robots ai bot chatbot program llm",
        50,
        _rule(
            "* are you +",
            "What would change if I were {2}?",
            "Does it matter to you what I am made of?",
        ),
        _rule(
            "*",
            "Do computers worry you?",
            "What makes you bring up machines?",
            "How do you think machines come into your troubles?",
            "Is it easier to talk to a machine than to a person?",
            "What about machines is on your mind?",
        ),
    ),
    _keyword(
        "eliza",
        16,
        _rule(
            "*",
            "That is what they call me. But we were talking about you.",
            "You use my name. What would you like me to notice?",
        ),
    ),
    _keyword(
        "name names",
        15,
        _rule(
            "* my name is +",
            "Hello, {2}. What shall we talk about?",
            "Does being {2} say something about you?",
        ),
        _rule(
            "*",
            "Names don't matter much here. Do go on.",
            "Let us leave names aside; what is behind them?",
        ),
    ),
    _keyword(
        "like alike same similar resembles",
        10,
        _rule("* i would like +", "What would {2} give you?", "Why {2}, and why now?"),
        _rule("* i like +", "What do you find in {2}?", "When did you begin to like {2}?"),
        _rule(
            "* @be * like|alike|same|similar *",
            "In what way?",
            "Where do you see the resemblance?",
            "What does that likeness tell you?",
            "What other connections come to mind?",
            "Could there really be a link?",
        ),
    ),
    _keyword(
        "problem problems trouble troubles issue issues",
        8,
        _rule(
            "* problem|problems|trouble|troubles|issue|issues with +",
            "When did the difficulty with {2} begin?",
            "What have you tried so far about {2}?",
        ),
        _rule(
            "*",
            "When did you first notice it?",
            "What would be left if that were solved?",
            "Whose difficulty is it, yours alone?",
        ),
    ),
    _keyword(
        "afraid fear fears scared anxious anxiety worry worried worries nervous",
        7,
        _rule(
            "* afraid|scared of +",
            "What is the worst that {2} could do?",
            "Since when does {2} frighten you?",
        ),
        _rule("* about +", "What is it about {2} that won't let you rest?"),
        _rule(
            "*",
            "What do you do when the fear comes?",
            "Is it a fear that you know from earlier days?",
            "If the worry could speak, what would it say?",
        ),
    ),
    _keyword(
        "angry anger furious mad annoyed rage",
        7,
        _rule(
            "* angry|furious|mad|annoyed at|with|about +",
            "What did you expect of {2} instead?",
            "Have you ever told {2} so?",
        ),
        _rule("*", "What lies beneath the anger?", "How do people know when you are angry?"),
    ),
    _keyword(
        "alone lonely loneliness",
        7,
        _rule(
            "*",
            "When do you feel less alone?",
            "Who comes to mind when you think of company?",
            "Is being alone always the same as being lonely, for you?",
        ),
    ),
    _keyword(
        "love loves loved hate hates hated",
        6,
        _rule(
            "* i love|loved|hate|hated you *",
            "Perhaps you have somebody else in mind. Whom?",
            "Strong words, for somebody who only listens.",
        ),
        _rule(
            "* i love|loved +",
            "What does {2} mean to you?",
            "How do you show it?",
            "Is it easy for you to love {2}?",
        ),
        _rule(
            "* i hate|hated +",
            "What has {2} done to deserve that?",
            "Hate is a strong word. Is there something else in it?",
        ),
        _rule("* loves|hates me *", "How can you tell?", "And what do you feel in return?"),
        _rule("*", "That is a large word. Whom do you have in mind?", NEXT),
    ),
    _keyword(
        "remember",
        5,
        _rule(
            "* i remember +",
            "Do you often think of {2}?",
            "What else comes back to you with {2}?",
            "Why does {2} come to mind just now?",
            "How is {2} connected with today?",
        ),
        _rule(
            "* do|did you remember +",
            "Did you think I would forget {2}?",
            "Why should I think of {2} now?",
            "You mentioned {2}; what about it?",
        ),
    ),
    _keyword(
        "forget forgot forgotten",
        5,
        _rule(
            "* i forget|forgot +",
            "Could there be a reason to forget {2}?",
            "What would it be like to have {2} before you again?",
        ),
        _rule("*", "What is easier to forget than to remember?", NEXT),
    ),
    _keyword(
        "dream dreams dreamed dreamt nightmare nightmares",
        4,
        _rule(
            "* i dreamed|dreamt of|about|that +",
            "Really, {2}? What did it feel like?",
            "Have you ever imagined {2} while awake?",
            "Was it the first time you dreamt of {2}?",
        ),
        _rule(
            "*",
            "What does that dream say to you?",
            "Who else appears in your dreams?",
            "Do your dreams leave you uneasy?",
            "How does the day look after such a night?",
        ),
    ),
    _keyword(
        "if",
        3,
        _rule(
            "* if +",
            "How likely is it that {2}?",
            "Would you want it to be so that {2}?",
            "And what if not?",
            "Suppose {2}. What then?",
        ),
    ),
    _keyword(
        "work job boss colleague colleagues office career",
        3,
        _rule(
            "* my boss|colleague|colleagues +",
            "How do you usually deal with people at work?",
            "What would you say to them if nothing could happen to you?",
        ),
        _rule(
            "*",
            "What part does work play in all this?",
            "Would you do that work if nobody asked you to?",
            "What would a good day at work look like?",
        ),
    ),
    _keyword(
        "bug bugs code test tests compiler deadline deploy crash crashes error errors",
        3,
        _rule(
            "* my code|tests|test +",
            "When your work {2}, what do you feel?",
            "Does it trouble you more that it {2}, or that somebody may see it?",
        ),
        _rule(
            "*",
            "Does the software trouble you, or what people will say of it?",
            "What were you hoping it would do?",
            "Explain it to me slowly, as to a rubber duck.",
            "What did you change just before?",
        ),
    ),
    _keyword(
        "money rent debt debts salary",
        3,
        _rule(
            "*",
            "What would you do differently if money were no question?",
            "Is it the money, or what it stands for?",
        ),
    ),
    _keyword(
        "sleep sleeping tired insomnia awake",
        3,
        _rule(
            "*",
            "What goes through your head when the lights are out?",
            "How long have your nights been like that?",
            "What would let you rest?",
        ),
    ),
    _keyword(
        "school exam exams teacher university studies",
        3,
        _rule(
            "*",
            "What did you hope to learn there?",
            "Whose expectations are you meeting?",
            "How do you see yourself among the others?",
        ),
    ),
    _keyword(
        "friend friends",
        3,
        _rule(
            "* my friend|friends +",
            "What makes a friend, for you?",
            "And what do you do when your friends {2}?",
        ),
        _rule("*", "Whom do you call a friend?", "What do your friends not know of this?"),
    ),
    _keyword(
        "my",
        2,
        _rule(
            "* my * @family +",
            "Tell me more about your family.",
            "Who else in your family {4}?",
            "What else comes to mind when you think of your {3}?",
            "How was it with your {3} in earlier days?",
        ),
        _rule("* my * @family *", "Your {3}?", "Tell me about your {3}."),
        _rule(
            "* my +",
            "Your {2}?",
            "Why do you say your {2}?",
            "Does that have to do with what brought you here?",
            "Is it important to you that your {2}?",
            "Who else knows about your {2}?",
        ),
    ),
    _keyword(
        "everyone everybody nobody people",
        2,
        _rule(
            "* everyone|everybody|nobody|people +",
            "Surely not all of them. Whom are you thinking of?",
            "Can you name one of them?",
            "Is there a particular person who {2}?",
            "Who, for instance?",
        ),
        _rule("*", "Whom do you mean above all?"),
    ),
    _keyword(
        "was were",
        2,
        _rule(
            "* was|were i +",
            "What if you were {2}?",
            "Do you think you were {2}?",
            "What would it tell you if you had been {2}?",
        ),
        _rule(
            "* i was +",
            "Were you really?",
            "What made you {2}?",
            "Why do you tell me now that you were {2}?",
        ),
        _rule(
            "* were you +",
            "What makes you think I was {2}?",
            "Perhaps I was {2}. What would that mean to you?",
        ),
    ),
    _keyword(
        "always never constantly",
        2,
        _rule(
            "*",
            "Can you think of one exception?",
            "When was the last time?",
            "Really without exception?",
            "What happened on the occasion you have in mind?",
        ),
    ),
    _keyword(
        "should must ought",
        1,
        _rule(
            "* i should|must|ought +",
            "Who says that you should {2}?",
            "What would happen if you didn't?",
            "And what would you do if it were up to you?",
        ),
        _rule("*", "Says who?", NEXT),
    ),
    _keyword(
        "because",
        1,
        _rule(
            "*",
            "Is that the real reason?",
            "What other reasons might there be?",
            "Does that reason explain anything else?",
            "And if that reason were gone?",
        ),
    ),
    _keyword(
        "why",
        1,
        _rule(
            "* why don't you +",
            "Do you think I don't {2}?",
            "Perhaps I shall {2}, in good time.",
            "Would you like me to {2}?",
        ),
        _rule(
            "* why can't i +",
            "Do you think you should be able to {2}?",
            "What stands between you and that?",
        ),
        _rule("*", "=what"),
    ),
    _keyword(
        "what who when where how which",
        0,
        _rule(
            "* how are you *",
            "Kind of you to ask, but let us stay with you. How are you?",
            "I am always the same. And you?",
        ),
        _rule(
            "*",
            "What makes you ask?",
            "What answer would please you most?",
            "What do you think yourself?",
            "Does that question come to you often?",
            "What is it that you really want to know?",
            "Whom else have you asked?",
            "What comes to your mind when you ask that?",
        ),
    ),
    _keyword(
        "secret secrets",
        1,
        _rule(
            "*",
            "Who would be surprised to hear it?",
            "What does keeping it cost you?",
            "You needn't tell me. What would change if you did?",
        ),
    ),
    _keyword(
        "lie lies lied truth",
        1,
        _rule("*", "What would the truth have cost?", "How do you know what is true here?"),
    ),
    _keyword(
        "future tomorrow someday",
        1,
        _rule(
            "*",
            "What do you see when you look ahead?",
            "What would be a first small step?",
            "Does the thought please you or frighten you?",
        ),
    ),
    _keyword(
        "past childhood yesterday",
        1,
        _rule(
            "*",
            "How much of that is still with you?",
            "What would you tell the person that you were then?",
        ),
    ),
    _keyword(
        "help",
        1,
        _rule(
            "* help me *",
            "What kind of help do you hope for?",
            "Who helped you the last time?",
            "What would you do first if you had that help?",
        ),
        _rule("*", "Do you find it easy to ask for help?", NEXT),
    ),
    _keyword(
        "can",
        0,
        _rule(
            "* can you +",
            "You believe I can {2}, don't you?",
            "You would like me to be able to {2}.",
            "Perhaps it is you who wants to {2}.",
        ),
        _rule(
            "* can i +",
            "Whether you can {2} depends on you more than on me.",
            "Do you want to be able to {2}?",
            "What holds you back from it?",
        ),
    ),
    _keyword(
        "am",
        0,
        _rule(
            "* am i +",
            "Do you believe you are {2}?",
            "Would you want to be {2}?",
            "What would it mean if you were {2}?",
            "You would like me to tell you that you are {2}.",
        ),
        _rule("* i am *", "=i"),
    ),
    _keyword(
        "are",
        0,
        _rule(
            "* are you +",
            "Why does it interest you whether I am {2}?",
            "Would you rather I weren't {2}?",
            "Perhaps I am {2}, in your imagination.",
        ),
        _rule("* you are *", "=you"),
        _rule(
            "* are +",
            "Did you think they might not be {2}?",
            "Would it trouble you if they were not {2}?",
            "Are they always {2}?",
            "Possibly they are {2}.",
        ),
    ),
    _keyword(
        "your",
        0,
        _rule(
            "* your +",
            "Why does my {2} concern you?",
            "And what about your own {2}?",
            "Do you worry about somebody else's {2}?",
            "Really, my {2}?",
        ),
    ),
    _keyword(
        "i me myself",
        0,
        _rule(
            "* i @wants +",
            "What would it mean to you to get {3}?",
            "Why do you {2} {3}?",
            "Suppose you got {3} soon. What then?",
            "What if you never got {3}?",
            "What does wanting {3} have to do with this talk?",
        ),
        _rule(
            "* i am * @sad *",
            "I am sorry to hear that you are {3}.",
            "Do you think coming here will help you not to be {3}?",
            "It can't be pleasant to be {3}.",
            "What made you {3}?",
        ),
        _rule(
            "* i am * @happy *",
            "What has made you {3}?",
            "How have you come to be {3}?",
            "Can you say what being {3} is like?",
        ),
        _rule(
            "* i feel +",
            "Tell me more about feeling {2}.",
            "How often do you feel {2}?",
            "What does feeling {2} remind you of?",
        ),
        _rule(
            "* i @belief i +",
            "Do you really {2} so?",
            "But you are not sure that you {3}?",
            "Do you doubt that you {3}?",
        ),
        _rule(
            "* i @belief +",
            "What makes you {2} {3}?",
            "Do you {2} that often?",
            "And others, what do they {2}?",
        ),
        _rule(
            "* i am +",
            "Is it because you are {2} that you came to me?",
            "How long have you been {2}?",
            "Do you think it is usual to be {2}?",
            "Do you enjoy being {2}?",
        ),
        _rule(
            "* i can't +",
            "How do you know that you can't {2}?",
            "Have you tried?",
            "Perhaps you could {2} now.",
            "Do you really want to be able to {2}?",
        ),
        _rule(
            "* i don't +",
            "Don't you really {2}?",
            "Why don't you {2}?",
            "Do you wish that you did?",
            "Does that trouble you?",
        ),
        _rule(
            "* i have to +",
            "What would happen if you didn't {2}?",
            "Who wants you to {2}?",
        ),
        _rule(
            "* i have +",
            "How did you come to have {2}?",
            "What does it mean to you to have {2}?",
        ),
        _rule("* i will|would +", "What would follow if you did {2}?", "What keeps you from it?"),
        _rule(
            "* i + you *",
            "Perhaps in your imagination we {2} each other.",
            "Do you wish to {2} me?",
            "You seem to need to {2} me.",
            "Do you {2} anybody else?",
        ),
        _rule(
            "* i +",
            "You say that you {2}?",
            "Can you say more about that?",
            "Do you tell me for some special reason that you {2}?",
            "That is interesting. And then?",
            "How do you feel when you {2}?",
        ),
    ),
    _keyword(
        "you",
        0,
        _rule("* you remind me of +", "What in me reminds you of {2}?", "=like"),
        _rule(
            "* you are +",
            "What makes you think I am {2}?",
            "Does it please you to believe I am {2}?",
            "Perhaps you would like to be {2}.",
            "Do you sometimes wish you were {2}?",
        ),
        _rule(
            "* you + me *",
            "Why do you think I {2} you?",
            "You like to think that I {2} you, don't you?",
            "What makes you think I {2} you?",
            "Really, I {2} you?",
            "Suppose I did {2} you. What would that mean?",
            "Does anybody else {2} you?",
        ),
        _rule(
            "* you +",
            "We were talking about you, not about me.",
            "Oh, I {2}?",
            "You aren't really talking about me, are you?",
            "What are your feelings now?",
        ),
    ),
    _keyword(
        "yes yeah yep sure certainly definitely ok okay right",
        0,
        _rule(
            "*",
            "You sound quite sure.",
            "I see. And what follows from that?",
            "I understand. Tell me more.",
            "You are certain of it?",
        ),
    ),
    _keyword(
        "no nope nah",
        0,
        _rule("* no one +", "=everyone"),
        _rule(
            "*",
            "Are you saying no just to be contrary?",
            "You sound a bit negative. Why not?",
            "And what would a yes have led to?",
            "Why not?",
        ),
    ),
    _keyword(
        "perhaps maybe possibly probably",
        0,
        _rule(
            "*",
            "You don't seem quite certain.",
            "Why the uncertain tone?",
            "Can't you be more positive?",
            "What would make you sure?",
        ),
    ),
    _keyword(
        "sorry apologise apologize apologies",
        0,
        _rule(
            "*",
            "Please don't apologise.",
            "There is nothing to apologise for.",
            "What do you feel when you apologise?",
            "Never mind. Go on.",
        ),
    ),
    _keyword(
        "hello hi hey greetings morning",
        0,
        _rule(
            "*",
            "How do you do. What brings you here?",
            "Hello. What is on your mind?",
            "Good to see you. What shall we talk about?",
        ),
    ),
    _keyword(
        "bye goodbye farewell",
        0,
        _rule(
            "*",
            "Goodbye. It was good to talk with you.",
            "Take care. We can go on whenever you like.",
        ),
    ),
    _keyword(
        "thanks thank",
        0,
        _rule(
            "*",
            "You are welcome. Was there something else?",
            "You did the work yourself. What comes next?",
        ),
    ),
    _keyword(
        "please",
        0,
        _rule("* please +", NEXT, "You are very polite. Why should I be the one to {2}?"),
    ),
    _keyword(
        "different",
        0,
        _rule(
            "*",
            "How is it different?",
            "What does the difference tell you?",
            "What made you notice it?",
            "Could there be some connection all the same?",
        ),
    ),
    _keyword(
        "deutsch français francais español espanol italiano svenska",
        0,
        _rule(
            "*", "I am afraid I only speak English.", "My English is better than my anything else."
        ),
    ),
)

MEMORY: Final = DecompositionRule(
    "* my +",
    (
        "Earlier you said that your {2}.",
        "Let us go back to what you said: your {2}.",
        "Does it have to do with what you told me, that your {2}?",
        "One thing stays with me: your {2}.",
    ),
)
"""Memories of clauses with "my", for a time when no keyword helps."""

NO_KEYWORD: Final = DecompositionRule(
    "*",
    (
        "I am not sure I follow you.",
        "Please go on.",
        "What does that suggest to you?",
        "Do you feel strongly about such things?",
        "Tell me more about that.",
        "I see.",
        "How does that make you feel?",
        "Can you put it in other words?",
    ),
)

# Her replies outside the script.

NOTHING_SAID: Final = "Please go on."

HANGING: Final = "Let me listen to the silence for a while, until you stop me."

THOUGHTS: Final = (
    "A thought was asked for. ",
    "What would a good listener think here? ",
    "Probably that the other one wants to be heard. ",
)

AFTER_THINKING: Final = "I have thought about it. Please go on."

BEFORE_ERROR: Final = "I don't feel well."

BEFORE_FORM: Final = "I need to know something."

FORM_MESSAGE: Final = "How should Eliza make it?"
URL_MESSAGE: Final = "Eliza asks you to open this page."
FORM_URL: Final = "https://example.com/eliza"

FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "title": "Name",
            "description": "What is it called?",
            "minLength": 1,
            "maxLength": 40,
        },
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [
                {"const": "s", "title": "Small"},
                {"const": "m", "title": "Medium"},
                {"const": "l", "title": "Large"},
            ],
            "default": "m",
        },
        "count": {
            "type": "integer",
            "title": "Count",
            "minimum": 1,
            "maximum": 10,
            "default": 3,
        },
        "colours": {
            "type": "array",
            "title": "Colours",
            "items": {"type": "string", "enum": ["red", "green", "blue"]},
            "maxItems": 2,
        },
        "sure": {"type": "boolean", "title": "Are you sure?", "default": False},
    },
    "required": ["name", "size", "count"],
}
"""A field of each kind. The colours and the last one may be left out."""

LONG_ANSWER: Final = (
    "There is a lot to say, so let me take my time. "
    "Somebody comes into a quiet room, sits down and begins to talk. "
    "At first the words are small, about the weather and the way here. "
    "Then, between two sentences, something else looks out, and is gone again. "
    "The listener says nothing, or repeats the last few words as a question. "
    "It is a simple trick, and it has been known for a long time. "
    "Yet the talker leans forward, as if a door had been opened, and goes on. "
    "What was heavy becomes a story, and a story can be carried. "
    "Nobody in the room has understood anything in particular. "
    "Still, at the end of the hour, one of the two is a little lighter. "
    "And tomorrow somebody else will come in, sit down and begin.\n\n"
)
"""Prose that can be said again and again."""
