"""What real agents were measured to do that nobody would expect, what is done about it, and where.

The tests are named here and not marked: most of them show something of their own. That they exist
is checked when the page is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.real.agents import AGENTS, ALL_AGENTS
from tests.real.continuity import CONTINUITY

from .markdown import table

TESTS = Path(__file__).resolve().parents[2] / "tests"


class Surprise(NamedTuple):
    """What agents do, what we do, and the tests that show it, as `file::test`."""

    seen: str
    done: str
    tests: tuple[str, ...] = ()


_ACP = "agents/acp/"
_REAL = "real/test_real_agents.py::"
_CHECKS = "real/test_checks.py::"
_TOOLS = "real/test_real_tools.py::"
_CLIENT = "real/test_typescript_sdk.py::"
_EXAMPLES = "real/test_sdk_examples.py::"

SURPRISES: Mapping[int, Surprise] = {
    1: Surprise(
        "Permission is asked after the turn was cancelled (Vibe, Qwen, OpenCode), and who isn't "
        "answered hangs.",
        "Everything that is asked is answered `cancelled`, until the prompt has returned.",
        (
            _ACP
            + "test_turn.py::test_questions_after_a_cancel_are_answered_until_the_prompt_returns",
            _CHECKS + "test_a_user_who_answers_a_question_with_other_words_gets_an_answer",
        ),
    ),
    2: Surprise(
        "MCP servers belong to the folder (OpenCode, Kilo) or the process (fast-agent), not to the "
        "session. Sessions that are opened at the same time get those of one of them (Vibe).",
        "OpenCode, Kilo and Vibe get a process for each session, and every session's server has a "
        "name of its own. Another agent shows it by a call that comes to another chat's server, or "
        "by a question about one.",
        (
            "agents/acp/test_tools.py::test_sessions_have_servers_of_their_own_spares_too",
            _ACP + "test_known.py"
            "::test_an_agent_that_keeps_tools_by_folder_gets_a_process_for_each_session",
            _ACP + "test_strays.py::test_a_call_at_an_idle_chats_server_is_refused_at_once",
            _ACP + "test_strays.py::test_a_question_about_another_chats_tool_is_not_the_users",
            _ACP + "test_strays.py::test_from_then_on_each_chat_has_a_process_of_its_own",
            _ACP + "test_agent.py"
            "::test_an_agent_whose_sessions_disturb_each_other_has_a_process_for_each",
            _CHECKS + "test_two_chats_with_tools_and_questions_at_once_stay_apart",
        ),
    ),
    3: Surprise(
        "MCP servers on stdio are dropped without a word (Copilot).",
        "Copilot is known to take servers over HTTP alone.",
        (_ACP + "test_known.py::test_an_agent_that_drops_stdio_servers_gets_them_over_http",),
    ),
    4: Surprise(
        "A tool call is first heard of in a permission request or an update (Gemini, Qwen). Kilo "
        "keeps back the text before it, too, until it is answered.",
        "Whatever comes first is its beginning.",
        (
            _ACP + "test_tool_calls.py::test_an_update_of_a_call_that_nobody_announced_is_enough",
            _ACP + "test_tool_calls.py"
            "::test_what_is_learnt_from_a_permission_request_shows_nothing",
            _ACP + "test_render_golden.py::test_a_turn_is_shown_as_its_golden_file_has_it",
        ),
    ),
    5: Surprise(
        "A call's title differs from agent to agent; its input comes later (Claude, OpenCode), is "
        "wrapped (Codex) or is only text (Gemini).",
        "A call is shown when enough is known of it, and its input as a person would write it.",
        (
            _ACP + "test_tool_calls.py::test_a_bare_call_is_held_until_more_is_known",
            _ACP + "test_render_golden.py::test_a_turn_is_shown_as_its_golden_file_has_it",
            _CHECKS + "test_what_is_allowed_is_done",
            _CHECKS + "test_two_calls_of_one_answer_get_their_own_results",
        ),
    ),
    6: Surprise(
        "MCP tools are hidden behind a search or in code (Qwen, Claude, Vibe).",
        "Claude is told to show them, by its environment; the others find them by themselves.",
        (
            _ACP + "test_known.py::test_claudes_tools_are_made_visible_before_it_can_say_who_it_is",
            _TOOLS + "test_the_model_is_offered_all_forty_tools_with_their_schemas",
            "real/test_scenario.py::test_a_tool_that_only_code_can_call_is_called_by_code",
        ),
    ),
    7: Surprise(
        "Options of a permission come in any order, under any id; a question names nothing but "
        "the call's id (Vibe).",
        "Options are chosen by kind; what is known of the call is shown with the question.",
        (
            _ACP + "test_permission.py"
            "::test_approval_and_denial_are_found_by_kind_in_every_real_agent",
            _ACP + "test_turn.py::test_a_question_may_name_a_call_by_nothing_but_its_id",
            _CHECKS + "test_what_is_denied_is_not_done_and_the_chat_goes_on",
        ),
    ),
    8: Surprise(
        "After a cancel a call stays in progress for ever, and its tool may run on (Codex, Gemini, "
        "Vibe). fast-agent never tells how its own shell ended.",
        "Such a call is closed with *no result*, unless the agent has answered the user after it; "
        "what comes of it later is dropped.",
        (
            _ACP + "test_tool_calls.py"
            "::test_a_call_after_which_the_agent_has_answered_needs_no_result",
            _ACP + "test_tool_calls.py::test_calls_that_never_end_are_closed_when_the_turn_is_over",
            _ACP + "test_tool_calls.py::test_late_news_of_an_earlier_turn_is_not_shown",
        ),
    ),
    9: Surprise(
        "Updates come after the cancel, after its answer (Claude, Vibe), and after an ordinary end "
        "(Vibe's titles).",
        "A turn listens on for a moment. What comes later begins the next turn, or is dropped "
        "after a cancel.",
        (
            _ACP + "test_turn.py::test_text_just_after_the_answer_belongs_to_the_turn",
            _ACP + "test_turn.py::test_text_after_a_cancelled_turn_is_dropped",
            _ACP + "test_turn.py::test_commands_and_titles_may_come_at_any_time",
            _CHECKS + "test_an_answer_stops_in_mid_stream_and_the_next_is_clean",
        ),
    ),
    10: Surprise(
        "A second prompt while one runs is queued, refused, or never answered, or kills the first.",
        "There is never one: the next prompt waits for the cancelled one, and an agent that is "
        "stuck is ended.",
        (
            _ACP + "test_turn.py::test_a_second_turn_must_wait_for_the_first",
            _ACP + "test_cancellation.py::test_an_edit_frees_a_chat_wherever_its_agent_hangs",
            _ACP + "test_cancellation.py"
            "::test_an_agent_that_never_stops_is_ended_and_the_next_turn_works",
        ),
    ),
    11: Surprise(
        "The end of the input doesn't end the process (Codex; Gemini with a server), or not all of "
        "its group.",
        "The whole group is told to end, and then made to.",
        (
            _ACP + "test_process.py"
            "::test_a_child_that_does_not_heed_the_end_of_its_input_is_terminated",
            _ACP + "test_process.py::test_what_a_launcher_started_ends_with_it",
            _REAL + "test_the_end_of_the_input_leaves_nothing_behind",
        ),
    ),
    12: Surprise(
        "When its model fails, Codex says so as an error if the key is wrong and in its answer "
        "otherwise; fast-agent says it in its answer. The others try again for a minute or more.",
        "An error fails the request, by its kind, and the session goes on; who doesn't want to "
        "wait cancels.",
        (
            _ACP + "test_turn.py::test_an_error_breaks_the_turn_and_the_session_goes_on",
            _ACP + "test_failures.py::test_the_words_of_an_error_tell_its_kind",
            _REAL + "test_a_chat_survives_a_model_that_fails",
            _REAL + "test_the_user_is_told_what_has_failed",
        ),
    ),
    13: Surprise(
        "A session that is unknown is told by four codes, by a refusal (fast-agent), or not at all "
        "(the Python examples).",
        "A process is only asked for sessions that it has opened. The codes and their words are "
        "recognised, and the next request has a new session; a refusal is told as one.",
        (
            _ACP + "test_failures.py::test_a_lost_session_is_recognised_under_all_its_codes",
            _ACP + "test_turn.py::test_a_session_that_the_agent_doesn_t_know_any_more_is_lost",
            _CHECKS + "test_an_agent_that_is_killed_is_replaced",
        ),
    ),
    14: Surprise(
        "The answer begins with a notice about the model (Codex, where it doesn't know the model); "
        "the user's words are echoed (Vibe) or get a preface on their way to the model (Copilot).",
        "Echoes aren't shown. A notice is what the agent said; a model that Codex knows avoids it, "
        "and `settings.model` can name one.",
        (
            _ACP + "test_render.py::test_what_is_not_for_the_user_is_not_shown",
            _CHECKS + "test_the_second_turn_knows_the_first",
            _REAL + "test_the_settings_choose_the_model",
        ),
    ),
    15: Surprise(
        "Thoughts come from most agents, but not from fast-agent.",
        "They are thinking parts; nothing waits for them.",
        (
            _ACP + "test_render.py::test_thoughts_go_out_as_thoughts",
            _REAL + "test_what_the_model_thinks_is_shown_as_such",
        ),
    ),
    16: Surprise(
        "Agents ask their model more than the user asks them: for a title, to warm up.",
        "That is theirs. Our model server knows such a call by its lack of tools.",
        ("real/test_scenario.py::test_a_request_without_tools_is_a_side_call",),
    ),
    17: Surprise(
        "MCP servers are started before `session/new` is answered, or seconds later (Codex, "
        "Claude, Qwen, Vibe).",
        "Claude, Codex and Qwen begin a turn without them and tell nobody. So their first prompt "
        "waits until they have asked for the tools, for ten seconds at most.",
        (
            _ACP + "test_tools.py"
            "::test_an_agent_that_would_begin_without_its_tools_is_prompted_when_it_has_them",
            _ACP + "test_tools.py::test_an_agent_that_never_asks_for_its_tools_is_waited_for_once",
            _TOOLS + "test_a_call_that_takes_two_minutes_is_waited_for",
        ),
    ),
    18: Surprise(
        "HTTP entries of MCP servers come with an Authorization header; of the agents, nobody "
        "measured who sends it. The TypeScript SDK, which many are built on, does.",
        "Who doesn't send it is refused. Only an agent that takes nothing else gets such an entry.",
        (
            _CLIENT + "test_its_calls_get_their_own_results_and_it_leaves_by_itself",
            "agents/mcp/test_web.py::test_whoever_is_not_the_agent_is_refused_whatever_is_asked",
        ),
    ),
    19: Surprise(
        "Every agent speaks version 1, and two offer a draft of the next to whoever asks for more.",
        "We ask for 1, and an agent that answers with another is told apart clearly.",
        (
            _ACP + "test_agent.py::test_we_say_version_1_and_offer_nothing_that_we_don_t_serve",
            _ACP + "test_agent.py::test_another_version_is_a_clear_error",
            _EXAMPLES + "test_the_typescript_example_does_what_is_allowed",
        ),
    ),
    20: Surprise(
        "An agent asks before it calls one of the editor's tools: as a command (Codex, for each of "
        "them), as of a dangerous kind, by a word in the tool's name (fast-agent), by its bare "
        "name (Copilot, Kimi), with the input as the title (Qwen), with the command as the title "
        "(Gemini), or in a wrapper (Kilo).",
        "The question is answered, once and silently, because the editor asks by itself: where the "
        "call's beginning, the agent's own code or its own words say of which tool it is, or where "
        "no model can choose the title. Anything else is asked. A question without details, as "
        "OpenHands asks for several calls at once, shows the open calls.",
        (
            _ACP + "test_turn.py::test_a_question_about_all_calls_shows_them",
            "agents/acp/test_own_tools.py"
            "::test_what_is_put_around_the_input_of_a_question_says_nothing_against_a_tool",
            _ACP + "test_tools.py"
            "::test_a_tool_that_is_asked_about_by_its_bare_name_is_not_asked_about_again",
            _ACP + "test_tools.py"
            "::test_a_tool_that_the_agent_names_beside_the_call_is_not_asked_about_again",
            _ACP + "test_tools.py::test_a_tool_whose_name_is_in_the_id_is_not_asked_about_again",
            _ACP + "test_tools.py"
            "::test_a_tool_that_is_asked_about_in_a_sentence_is_not_asked_about_again",
            _ACP + "test_tools.py::test_a_command_that_is_announced_as_a_tool_is_asked_about",
            _ACP + "test_tools.py"
            "::test_a_question_that_names_the_tool_in_its_announcement_alone_is_not_asked_again",
            _ACP + "test_tools.py::test_a_kind_that_is_guessed_by_the_tools_name_asks_nobody_again",
            _TOOLS + "test_calls_that_change_something_ask_the_user_once",
        ),
    ),
    21: Surprise(
        "A call that takes two minutes is waited for by those that heed progress, or that have no "
        "limit. Older versions of Codex (0.16) give up after two minutes, whatever they hear, and "
        "Kimi after one, unless its own settings say more.",
        "Progress is sent every ten seconds. The result of a call that was given up is dropped, "
        "and the chat goes on.",
        (
            _TOOLS + "test_a_call_that_takes_two_minutes_is_waited_for",
            _CLIENT + "test_it_waits_for_a_call_of_which_it_hears_progress",
        ),
    ),
    22: Surprise(
        "Schemas don't reach the model as they were: Codex leaves out patterns, formats, defaults "
        "and bounds; OpenCode and Code Puppy add that there are no other arguments.",
        "That is theirs. They get all of it.",
        (
            _TOOLS + "test_the_model_is_offered_all_forty_tools_with_their_schemas",
            _CLIENT + "test_it_lists_forty_tools_with_their_schemas_unchanged",
        ),
    ),
    23: Surprise(
        "Claude, Codex and Qwen begin a session in a mode in which a model decides about "
        "permission, and the user is seldom asked; Vibe in one in which edits need none.",
        "They are put into the mode in which they ask, which the table above names, unless "
        "everything is allowed. `settings.mode` chooses another.",
        (
            _ACP + "test_turn.py::test_an_agent_that_would_decide_by_itself_is_made_to_ask",
            _ACP + "test_known.py::test_vibe_asks_in_one_of_its_modes_alone",
            _ACP + "test_turn.py::test_an_agent_that_edits_without_asking_is_made_to_ask_each_time",
            _CHECKS + "test_what_is_allowed_is_done",
            _CHECKS + "test_what_is_denied_is_not_done_and_the_chat_goes_on",
        ),
    ),
    24: Surprise(
        "Codex and pi name a terminal for each command, though they were told that there are none. "
        "What the command wrote and how it ended comes in `_meta` alone.",
        "The terminal isn't shown. The pieces of the output are collected and shown as the call's "
        "result; an exit status is shown where a command failed. Nothing is advertised for that: "
        "Claude then sends the same as ordinary content.",
        (
            _ACP + "test_tool_view.py::test_a_terminal_is_not_shown_for_there_is_none",
            _ACP + "test_tool_view.py::test_what_a_command_wrote_is_its_result",
            _ACP + "test_turn.py::test_what_a_command_wrote_is_shown_with_its_call",
        ),
    ),
    25: Surprise(
        "The MCP server is started before the session that is to be loaded is looked for, and is "
        "left running where there is none (Gemini).",
        "Each attempt to open a session has a token of its own, so the next one isn't held up. Its "
        "server has another name where the agent came to the one before.",
        (
            _ACP + "test_tools.py::"
            "test_a_load_that_fails_after_its_server_has_started_leaves_the_tools_to_the_next",
            _ACP + "test_reopened.py"
            "::test_a_way_that_fails_after_its_server_has_started_costs_the_next_one_nothing",
        ),
    ),
    26: Surprise(
        "OpenHands offers its model the tools of MCP servers without the server's name. It insists "
        "on a word of the model's about the danger of each call, and of a schema it keeps the "
        "types and the descriptions.",
        "That is theirs. The call that reaches our server has our arguments alone.",
        (
            "real/test_scenario.py"
            "::test_a_call_says_how_dangerous_it_is_where_an_agent_insists_on_it",
        ),
    ),
    27: Surprise(
        "OpenHands asks its model for whole answers, and can't interrupt one. Text beside a call "
        "comes as a thought; so does its system prompt, before the first answer of a session.",
        "An answer appears when it is complete. A stop that takes too long ends the process.",
        (
            "real/test_scenario.py::test_a_reply_in_one_piece_holds_all_of_it",
            _ACP + "test_cancellation.py"
            "::test_an_agent_that_never_stops_is_ended_and_the_next_turn_works",
        ),
    ),
    28: Surprise(
        "Hermes asks before it edits a file and before a command that it calls dangerous; its "
        "question is denied after a minute. Code Puppy asks nobody, unless `yolo_mode = false` "
        "stands in its `puppy.cfg`.",
        "What isn't asked can't be denied. An answer that comes too late changes nothing.",
        (
            "real/test_scenario.py"
            "::test_a_file_is_written_without_a_shell_where_only_that_is_asked_about",
        ),
    ),
    29: Surprise(
        "An agent refuses with `Internal error`, and says why in the error's data alone (Gemini).",
        "The log and the error have that reason. Methods of an extension aren't warned about.",
        (
            _ACP + "test_existing.py::test_a_refused_load_is_logged_with_the_agents_own_reason",
            _ACP + "test_connection.py::test_an_extension_is_answered_and_is_nothing_odd",
        ),
    ),
    30: Surprise(
        "An agent says on stdout why it can't be used, and ends with status 0 (Kimi 1.52).",
        "Its last lines there that are no messages are quoted in the error and by the doctor.",
        (
            _ACP + "test_agent.py"
            "::test_an_agent_that_ends_before_it_is_ready_may_say_why_on_stdout",
            "vscodelm/doctor/test_examination.py"
            "::test_an_agent_that_fails_at_its_start_is_told_with_what_it_wrote_on_stdout",
        ),
    ),
    31: Surprise(
        "A prompt that was cancelled fails, and from then on its session says of every prompt that "
        "it is queued (Hermes).",
        "A stop that is answered with any other error than a cancellation costs the session. The "
        "next one is told the chat.",
        (
            _ACP + "test_cancellation.py::test_a_stop_that_fails_costs_the_session_alone",
            _ACP + "test_cancellation.py::test_a_stop_that_is_answered_with_an_abort_costs_nothing",
        ),
    ),
    32: Surprise(
        "A load of a session that the agent has forgotten succeeds, and the session is empty (Qwen "
        "0.15, which also says that it resumes sessions, and doesn't know the method).",
        "A load that tells nothing again has failed, so the chat is told to a new session. A "
        "method that isn't there is remembered for that version.",
        (
            _ACP + "test_existing.py::test_a_load_that_tells_nothing_again_leads_to_a_new_session",
            _ACP + "test_existing.py::test_a_resume_that_is_no_method_is_asked_for_once",
            "actors/test_lost_sessions.py"
            "::test_a_chat_is_told_again_where_its_session_is_loaded_and_empty",
        ),
    ),
    33: Surprise(
        "When a session is loaded with an MCP server of another name, the model is told that the "
        "old one has disconnected (Claude).",
        "A session that goes on keeps its server's name, also after a restart.",
        (_ACP + "test_tools.py::test_a_session_that_goes_on_keeps_the_name_of_its_server",),
    ),
    34: Surprise(
        "A resume of a session that the agent has forgotten succeeds, and each prompt is refused "
        "without a word (Hermes). A fork has no id (Hermes), or is no method (Code Puppy).",
        "An agent that has told a session again when it resumed it must do so each time. A first "
        "prompt that is refused so costs the session.",
        (
            _ACP + "test_existing.py"
            "::test_a_resume_that_tells_nothing_again_is_believed_of_who_never_does",
            _ACP + "test_existing.py"
            "::test_a_session_that_refuses_its_first_prompt_without_a_word_is_lost",
            _ACP + "test_existing.py::test_a_fork_that_is_no_method_is_asked_for_once",
            _ACP + "test_existing.py::test_a_fork_that_fails_is_a_new_session",
        ),
    ),
    35: Surprise(
        "Some calls never were: their id stands in a question alone (OpenHands, Hermes). Of a "
        "denied call, some agents say nothing more (Gemini, Qwen, Codex).",
        "A call that the agent only asks about isn't shown. A denied call is shown as *denied*, "
        "where the agent goes on.",
        (
            _ACP + "test_tool_calls.py::test_a_call_that_the_agent_only_asks_about_is_not_shown",
            _ACP + "test_tool_calls.py"
            "::test_a_call_that_was_denied_and_never_updated_is_shown_as_denied",
            _ACP + "test_turn.py::test_a_denial_without_a_reason_is_shown_where_the_agent_goes_on",
        ),
    ),
    36: Surprise(
        "A call of an editor's tool comes up to 0.1 s before its text and its announcement "
        "(OpenCode, Kilo).",
        "An agent that has announced calls before is waited for, up to 0.25 s, before a response "
        "ends with a call or a question. Three waits in vain are enough.",
        (
            _ACP + "test_tools.py::test_a_call_comes_after_the_text_that_precedes_it",
            _ACP + "test_tools.py"
            "::test_an_agent_that_announced_calls_in_another_session_is_waited_for",
            _ACP + "test_turn.py::test_a_question_comes_after_the_text_that_precedes_its_call",
        ),
    ),
    37: Surprise(
        "A session that is loaded has no MCP servers: those that are given with the load are "
        "ignored (OpenHands). A process keeps its servers by name, and connects to no other one of "
        "the same name (Hermes).",
        "An agent that asks for tools elsewhere, and doesn't within 15 seconds of a session's "
        "first prompt, costs the session. It is had again under another name of the server, or "
        "told anew. This is remembered for that version.",
        (
            _ACP + "test_reopened.py"
            "::test_a_chat_whose_load_loses_its_tools_is_told_anew_and_so_is_each_later_one",
            _ACP + "test_reopened.py::test_a_server_whose_name_the_process_keeps_gets_another_name",
            _ACP + "test_reopened.py::test_a_session_that_may_have_its_tools_is_gone_on_with",
        ),
    ),
}


def surprises() -> str:
    """Return what was seen, what is done and the tests; raises `KeyError` for one that isn't."""
    there = set(all_tests())
    missing = sorted({name for one in SURPRISES.values() for name in one.tests} - there)
    if missing:
        raise KeyError(f"no such tests: {missing}")
    rows = [
        [str(number), one.seen, one.done, "<br>".join(f"`{name}`" for name in one.tests)]
        for number, one in SURPRISES.items()
    ]
    return table(["", "what agents do", "what we do", "tests"], rows)


def all_tests(root: Path = TESTS) -> Iterator[str]:
    """Yield the name of every test there is, as `file::test`."""
    for path in sorted(root.rglob("test_*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(root).as_posix()}::{node.name}"


def agents() -> str:
    """Return who is talked to, and what each can't be asked to do."""
    rows = [
        [
            agent.name,
            agent.version,
            agent.dialect,
            f"`{agent.asking_mode}`" if agent.asking_mode else "its own",
            "all" if agent in AGENTS else "the checks",
            "; ".join(_lacks(agent.lacks)) or "nothing",
        ]
        for agent in ALL_AGENTS
    ]
    asks = "mode in which it asks"
    return table(["agent", "version", "its model speaks", asks, "tested", "what it lacks"], rows)


def continuity() -> str:
    """Return how each goes on with a chat."""
    rows = [
        [name, f"`{one.after_a_restart}`", "`session/fork`" if one.copies else "it is told again"]
        for name, one in CONTINUITY.items()
    ]
    return table(["agent", "after a restart of vscodelm", "a copy of a whole chat"], rows)


def _lacks(lacks: Mapping[str, str]) -> Iterator[str]:
    for ability, reason in lacks.items():
        yield f"{ability}: {reason}"
