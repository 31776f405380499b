"""Faults to be planted into the protocol's layer (`tests.test_planted_faults`).

Its tests are run with the protocol's schema, where it is there.
"""

from __future__ import annotations

from tests.planted import Fault, Ground

from .protocol_schema import SHARED

GROUND = Ground(
    "agents/acp",
    "tests/agents/acp",
    copied=("agents", "bridge", "tests/agents", "tests/fakes"),
    options=("--hypothesis-seed=0",),
    environment={"HYPOTHESIS_PROFILE": "dev", "VSCODELM_SHARED": str(SHARED)},
)

FAULTS = [
    Fault(
        "an agent may say anything while the user is asked",
        "dialogue",
        "        if is_awaiting and self._size + size + NEWS_OVERHEAD > MOST_UNREAD_BYTES:\n",
        "        if False:\n",
        ("connection",),
    ),
    Fault(
        "answers pile up for an agent that doesn't read",
        "connection",
        "        if self._speaker.unread_answers < MOST_UNSENT_BYTES:\n",
        "        if True:\n",
        ("connection",),
    ),
    Fault(
        "the shell of Windows interprets an argument",
        "windows",
        "        if _INTERPRETED.search(argument):",
        "        if False:",
    ),
    Fault(
        "a second session takes the id of the first",
        "ears",
        "        if session_id in self._ears:\n            return False\n",
        "",
        ("openings",),
    ),
    Fault(
        "a mark that comes in pieces isn't seen",
        "fitting",
        " if is_text else together",
        " if False else together",
        ("record",),
    ),
    Fault("what stands round the entries is forgotten", "record", "budget - ROUND", "budget"),
    Fault(
        "an attached file takes no room",
        "fitting",
        'size_of(resource.text or "") + ',
        "",
    ),
    Fault("more is left out than must be", "fitting", "while over > 0 and", "while over > -99 and"),
    Fault("a text is cut in a character", "shortening", "return is_tone or is_mark or", "return"),
    Fault("the end is cut in a character", "shortening", "        at += 1\n", "        break\n"),
    Fault(
        "a malformed field is a fault even if it has a default",
        "lenient",
        "            if field.required:\n                raise\n",
        "            raise\n",
    ),
    Fault(
        "a malformed field is left out even if it has no default",
        "lenient",
        "            if field.required:\n                raise\n",
        "            if False:\n                raise\n",
    ),
    Fault(
        "a missing field is filled in",
        "lenient",
        "            if field.required:\n                raise ProtocolFault(f",
        "            if False:\n                raise ProtocolFault(f",
    ),
    Fault(
        "a malformed item spoils its list",
        "lenient",
        "            continue\n    re",
        "            raise\n    re",
    ),
    Fault(
        "a malformed item ends its list",
        "lenient",
        "            continue\n    re",
        "            break\n    re",
    ),
    Fault(
        "an unknown kind is a fault",
        "lenient",
        "        if kind.tag == UNKNOWN:\n",
        "        if False:\n",
    ),
    Fault(
        "the tag of the unknown is known",
        "lenient",
        "kind.tag == tag != UNKNOWN",
        "kind.tag == tag",
    ),
    Fault("true is a number", "lenient", " and not isinstance(value, bool)", ""),
    Fault("infinity is a number", "lenient", "return math.isfinite(value)", "return True"),
    Fault("a fault points at the whole", "lenient", 'f"{path}.{field.encode_name}"', "path"),
    Fault("base64 needs its padding", "lenient", 'text.rstrip("=") + "==="', "text"),
    Fault(
        "what a type refuses is our fault",
        "lenient",
        "except ValueError as error:",
        "except KeyError as error:",
    ),
    Fault("a byte order mark spoils a line", "decode", '"utf-8-sig"', '"utf-8"'),
    Fault(
        "bytes that are no UTF-8 are fatal",
        "decode",
        '.decode("utf-8-sig", "replace")',
        '.decode("utf-8-sig")',
    ),
    Fault("not a number is kept", "decode", ", parse_constant=_nothing", ""),
    Fault(
        "halves of characters in a chunk are lost",
        "decode",
        '_load(raw)["update"]',
        'value["update"]',
    ),
    Fault(
        "halves of characters elsewhere are kept",
        "decode",
        "_load(repair_surrogates(raw))",
        "_load(raw)",
    ),
    Fault(
        "an error of an odd shape fails nothing",
        "decode",
        "return Error(INTERNAL_ERROR, json.dumps(whole))",
        "return None",
    ),
    Fault(
        "an object that is no message is one",
        "decode",
        "        if envelope.method is None and envelope.id is UNSET:\n",
        "        if False:\n",
    ),
    Fault(
        "deep nonsense is fatal",
        "decode",
        "    except (ValueError, RecursionError):\n        return [_skipped",
        "    except ValueError:\n        return [_skipped",
    ),
    Fault(
        "a batch loses all but its first",
        "decode",
        "for item in items] or",
        "for item in items[:1]] or",
    ),
    Fault("bare content isn't wrapped", "decode", 'call["content"] = _wrapped(items)', "pass"),
    Fault(
        "a mode has one name",
        "decode",
        '.setdefault("currentModeId", mode)',
        '.get("currentModeId", mode)',
    ),
    Fault(
        "null is no result",
        "decode",
        "{} if value is None else _amended(value, raw)",
        "_amended(value, raw)",
    ),
    Fault("true is an id", "decode", "isinstance(id_, bool) or ", ""),
    Fault(
        "a first half is not held",
        "joiner",
        'whole[-1:] if "\\ud800" <= whole[-1:] <= "\\udbff" else ""',
        '""',
    ),
    Fault("a second half is held, too", "joiner", '<= "\\udbff"', '<= "\\udfff"'),
    Fault(
        "a first half that waits is forgotten",
        "joiner",
        "not self._held and text.isascii()",
        "text.isascii()",
    ),
    Fault(
        "what is left of a message begins the next",
        "joiner",
        'held, self._held = self._held, ""',
        "held = self._held",
    ),
    Fault(
        "approving takes the first option",
        "permission",
        'return next(iter(_find(options, "allow_once")), None)',
        "return options[0]",
    ),
    Fault(
        "approving once lasts",
        "permission",
        'iter(_find(options, "allow_once"))',
        'iter(_find(options, "allow_always"))',
    ),
    Fault(
        "one of several that last is chosen",
        "permission",
        "lasting[0] if len(lasting) == 1 else None",
        "lasting[0] if lasting else None",
    ),
    Fault(
        "read_only may approve for good",
        "permission",
        'lasting and permissions == "allow"',
        "lasting",
    ),
    Fault("allow decides about modes", "permission", " or question.ask.kind == ALWAYS_ASKED", ""),
    Fault(
        "a denial lasts",
        "permission",
        '_find(question.options, "reject_once")',
        '_find(question.options, "reject_always")',
    ),
    Fault(
        "a denial cancels the turn",
        "permission",
        "            option = _denial(question)\n",
        "            option = None\n",
    ),
    Fault(
        "a denial that isn't offered is the first option",
        "permission",
        '"reject_once")), None)\n',
        '"reject_once")), question.options[0])\n',
    ),
    Fault(
        "a user who moved on has denied",
        "permission",
        "            option = None\n        case _",
        "            option = _denial(question)\n        case _",
    ),
    Fault(
        "the question doesn't say that it is for good",
        "permission",
        "    note = _note(options)\n",
        "    note = None\n",
    ),
    Fault(
        "a character that can't be seen stays in what is approved",
        "visible",
        "        hidden = is_hidden(character) or",
        "        hidden =",
    ),
    Fault(
        "the end of a long line is out of sight",
        "question_view",
        "wrapped(visible(self.take(text).strip(",
        "(visible(self.take(text).strip(",
    ),
    Fault(
        "a part of a file tells how the file ends",
        "diff_view",
        "_lines(_ended(old)), _lines(_ended(new))",
        "_lines(old), _lines(new)",
    ),
    Fault(
        "what is left out of a large change isn't counted",
        "question_view",
        "    paper.missing += left_out\n",
        "",
    ),
    Fault(
        "an id of an open question is taken again",
        "connection",
        "if self._ears.is_open(id_):",
        "if False:",
    ),
    Fault(
        "questions without end put the wait off",
        "questions",
        "min(now + GATHER_SECONDS, self._gathers_until)",
        "now + GATHER_SECONDS",
        ("turn",),
    ),
    Fault("hidden characters stay hidden", "exhibit", "), _picture)", "), str)"),
    Fault("the end of a long text is cut off", "exhibit", "tail = room // 4", "tail = 0"),
    Fault("there is room for everything", "exhibit", "        self.left -= len(text)\n", ""),
    Fault(
        "any error may be a lost session",
        "failures",
        "    if error.code not in (INVALID_PARAMS, INTERNAL_ERROR):\n        return False\n",
        "",
    ),
    Fault(
        "an old code is not known",
        "failures",
        "(RESOURCE_NOT_FOUND, _LEGACY_NOT_FOUND)",
        "(RESOURCE_NOT_FOUND,)",
    ),
    Fault(
        "a method that does nothing is tried", "login", " or method.id in known.ignored_methods", ""
    ),
    Fault(
        "a definition is tried though no system takes it",
        "process",
        "fault = definition_fault(spec)",
        "fault = None",
        ("definition",),
    ),
    Fault(
        "the data of an error is taken however deeply it is nested",
        "decode",
        "messages.append(_shallow(envelope))",
        "messages.append(envelope)",
        ("odd_messages",),
    ),
]
