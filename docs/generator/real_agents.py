"""List the measured surprises of real agents, and our answer to each.

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
    """The surprise, our answer, and the tests that show it, as `file::test`."""

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
        "Agents ask for permission after the turn was cancelled (Vibe, Qwen, OpenCode), and hang "
        "without an answer.",
        "Every question is answered `cancelled`, until the prompt has returned.",
        (
            _ACP
            + "test_turn.py::test_questions_after_a_cancel_are_answered_until_the_prompt_returns",
            _CHECKS + "test_a_user_who_answers_a_question_with_other_words_gets_an_answer",
        ),
    ),
    2: Surprise(
        "MCP servers belong to the folder (OpenCode, Kilo) or the process (fast-agent), not to "
        "the session. If sessions are opened at the same time, they all get the servers of one of "
        "them (Vibe).",
        "OpenCode, Kilo and Vibe get a process for each session, and every session's server has "
        "its own name. Other agents are recognised when a call comes to another chat's server, or "
        "a question about such a call.",
        (
            "agents/acp/test_tools.py::test_sessions_have_servers_of_their_own_spares_too",
            _ACP + "test_quirks.py"
            "::test_an_agent_that_keeps_tools_by_folder_gets_a_process_for_each_session",
            _ACP + "calls/test_strays.py::test_a_call_at_an_idle_chats_server_is_refused_at_once",
            _ACP + "calls/test_strays.py"
            "::test_a_question_about_another_chats_tool_is_not_the_users",
            _ACP + "calls/test_strays.py::test_from_then_on_each_chat_has_a_process_of_its_own",
            _ACP + "test_agent.py"
            "::test_an_agent_whose_sessions_disturb_each_other_has_a_process_for_each",
            _CHECKS + "test_two_chats_with_tools_and_questions_at_once_stay_apart",
        ),
    ),
    3: Surprise(
        "MCP servers on stdio are dropped without an error (Copilot).",
        "Copilot gets its servers over HTTP.",
        (_ACP + "test_quirks.py::test_an_agent_that_drops_stdio_servers_gets_them_over_http",),
    ),
    4: Surprise(
        "A tool call first appears in a permission request or an update (Gemini, Qwen). Kilo also "
        "holds back the text before it until the question is answered.",
        "The first message about a call begins it.",
        (
            _ACP
            + "render/test_tool_calls.py::test_an_update_of_a_call_that_nobody_announced_is_enough",
            _ACP + "render/test_tool_calls.py"
            "::test_what_is_learnt_from_a_permission_request_shows_nothing",
            _ACP + "test_render_golden.py::test_a_turn_is_shown_as_its_golden_file_has_it",
        ),
    ),
    5: Surprise(
        "The title of a call differs from agent to agent. Its input comes later (Claude, "
        "OpenCode), is wrapped (Codex) or is only text (Gemini).",
        "A call is shown when enough is known about it, with its input as a person would write it.",
        (
            _ACP + "render/test_tool_calls.py::test_a_bare_call_is_held_until_more_is_known",
            _ACP + "test_render_golden.py::test_a_turn_is_shown_as_its_golden_file_has_it",
            _CHECKS + "test_what_is_allowed_is_done",
            _CHECKS + "test_two_calls_of_one_answer_get_their_own_results",
        ),
    ),
    6: Surprise(
        "MCP tools are hidden behind a search or in code (Qwen, Claude, Vibe).",
        "Claude's environment tells it to show them. The others find them by themselves.",
        (
            _ACP
            + "test_quirks.py::test_claudes_tools_are_made_visible_before_it_can_say_who_it_is",
            _TOOLS + "test_the_model_is_offered_all_forty_tools_with_their_schemas",
            "real/test_scenario.py::test_a_tool_that_only_code_can_call_is_called_by_code",
        ),
    ),
    7: Surprise(
        "Options of a permission come in any order, under any id. Some questions contain only the "
        "id of their call (Vibe).",
        "Options are chosen by kind. The question shows all that is known about the call.",
        (
            _ACP + "test_permissions.py"
            "::test_approval_and_denial_are_found_by_kind_in_every_real_agent",
            _ACP + "test_turn.py::test_a_question_may_name_a_call_by_nothing_but_its_id",
            _CHECKS + "test_what_is_denied_is_not_done_and_the_chat_goes_on",
        ),
    ),
    8: Surprise(
        "After a cancel a call stays in progress for ever, and its tool may run on (Codex, "
        "Gemini, Vibe). fast-agent never reports the end of its own shell.",
        "Such a call is closed with *no result*, unless the agent has answered the user after it. "
        "Later updates of it are dropped.",
        (
            _ACP + "render/test_tool_calls.py"
            "::test_a_call_after_which_the_agent_has_answered_needs_no_result",
            _ACP + "render/test_tool_calls.py"
            "::test_calls_that_never_end_are_closed_when_the_turn_is_over",
            _ACP + "render/test_tool_calls.py::test_late_news_of_an_earlier_turn_is_not_shown",
        ),
    ),
    9: Surprise(
        "Updates come after the cancel, after its answer (Claude, Vibe), and after an ordinary end "
        "(Vibe's titles).",
        "A turn listens for another moment. Later updates begin the next turn. After a cancel "
        "they are dropped.",
        (
            _ACP + "test_turn.py::test_text_just_after_the_answer_belongs_to_the_turn",
            _ACP + "test_turn.py::test_text_after_a_cancelled_turn_is_dropped",
            _ACP + "test_turn.py::test_commands_and_titles_may_come_at_any_time",
            _CHECKS + "test_an_answer_stops_in_mid_stream_and_the_next_is_clean",
        ),
    ),
    10: Surprise(
        "A second prompt during a turn is queued, refused, or never answered, or ends the first "
        "one.",
        "There is never a second one: the next prompt waits for the cancelled one. A stuck agent "
        "is ended.",
        (
            _ACP + "test_turn.py::test_a_second_turn_must_wait_for_the_first",
            _ACP + "test_cancellation.py::test_a_cancel_frees_a_chat_wherever_its_agent_hangs",
            _ACP + "test_cancellation.py"
            "::test_an_agent_that_never_stops_is_ended_and_the_next_turn_works",
        ),
    ),
    11: Surprise(
        "The end of the input doesn't end the process (Codex; Gemini with a server), or not all of "
        "its group.",
        "The whole group gets SIGTERM, and then SIGKILL.",
        (
            _ACP + "transport/test_subprocess.py"
            "::test_a_child_that_does_not_heed_the_end_of_its_input_is_terminated",
            _ACP + "transport/test_subprocess.py::test_what_a_launcher_started_ends_with_it",
            _REAL + "test_the_end_of_the_input_leaves_nothing_behind",
        ),
    ),
    12: Surprise(
        "If its model fails, Codex reports a wrong key as an error, and any other failure in its "
        "answer. fast-agent reports it in its answer. The others try again for a minute or more.",
        "An error fails the request, by its kind, and the session continues. The user can cancel "
        "a long wait.",
        (
            _ACP + "test_turn.py::test_an_error_breaks_the_turn_and_the_session_goes_on",
            _ACP + "test_errors.py::test_the_words_of_an_error_tell_its_kind",
            _REAL + "test_a_chat_survives_a_model_that_fails",
            _REAL + "test_the_user_is_told_what_has_failed",
        ),
    ),
    13: Surprise(
        "An unknown session is reported under four codes, by a refusal (fast-agent), or not at "
        "all (the Python examples).",
        "A process gets only ids of sessions that it has opened. The codes and their words are "
        "recognised, and the next request opens a new session. A refusal is shown as one.",
        (
            _ACP + "test_errors.py::test_a_lost_session_is_recognised_under_all_its_codes",
            _ACP + "test_turn.py::test_a_session_that_the_agent_doesn_t_know_any_more_is_lost",
            _CHECKS + "test_an_agent_that_is_killed_is_replaced",
        ),
    ),
    14: Surprise(
        "The answer begins with a notice about the model (Codex, if it doesn't know the model). "
        "Vibe echoes the user's words, and Copilot adds a preface to them for the model.",
        "Echoes aren't shown. A notice is part of the answer. It doesn't appear if Codex knows "
        "the model; `settings.model` can name one.",
        (
            _ACP + "render/test_renderer.py::test_what_is_not_for_the_user_is_not_shown",
            _CHECKS + "test_the_second_turn_knows_the_first",
            _REAL + "test_the_settings_choose_the_model",
        ),
    ),
    15: Surprise(
        "Thoughts come from most agents, but not from fast-agent.",
        "They are thinking parts; nothing waits for them.",
        (
            _ACP + "render/test_renderer.py::test_thoughts_go_out_as_thoughts",
            _REAL + "test_what_the_model_thinks_is_shown_as_such",
        ),
    ),
    16: Surprise(
        "Agents also send requests of their own to their model: for a title, or to warm up.",
        "Nothing. The model server of the tests recognises such a request, because it has no "
        "tools.",
        ("real/test_scenario.py::test_a_request_without_tools_is_a_side_call",),
    ),
    17: Surprise(
        "MCP servers are started before `session/new` is answered, or seconds later (Codex, "
        "Claude, Qwen, Vibe).",
        "Claude, Codex and Qwen begin a turn without them, and don't report that. So their first "
        "prompt waits until they have listed the tools, but not more than ten seconds.",
        (
            _ACP + "test_tools.py"
            "::test_an_agent_that_would_begin_without_its_tools_is_prompted_when_it_has_them",
            _ACP + "test_tools.py::test_an_agent_that_never_asks_for_its_tools_is_waited_for_once",
            _TOOLS + "test_a_call_that_takes_two_minutes_is_waited_for",
        ),
    ),
    18: Surprise(
        "HTTP entries of MCP servers come with an Authorization header. It wasn't measured which "
        "agents send it. The TypeScript SDK, which many agents use, sends it.",
        "Requests without it are refused. Only agents that support nothing else get such an entry.",
        (
            _CLIENT + "test_its_calls_get_their_own_results_and_it_leaves_by_itself",
            "agents/mcp/test_http.py::test_whoever_is_not_the_agent_is_refused_whatever_is_asked",
        ),
    ),
    19: Surprise(
        "Every agent speaks version 1, and two offer a draft of the next version to clients that "
        "ask for more.",
        "We ask for version 1. If an agent answers with another version, the error says so.",
        (
            _ACP + "test_agent.py::test_we_say_version_1_and_offer_nothing_that_we_don_t_serve",
            _ACP + "test_agent.py::test_another_version_is_a_clear_error",
            _EXAMPLES + "test_the_typescript_example_does_what_is_allowed",
        ),
    ),
    20: Surprise(
        "An agent asks before it calls one of the editor's tools. The question has many forms. It "
        "is a command (Codex, for each call), or has a dangerous kind because of a word in the "
        "tool's name (fast-agent). It names only the tool (Copilot, Kimi), has the input as its "
        "title (Qwen), or the command (Gemini). Kilo wraps it.",
        "The question is answered once and silently, because the editor asks by itself. This "
        "needs certainty about the tool: from the call's beginning, the agent's own code or "
        "words, or a title that no model can choose. Any other question goes to the user. "
        "OpenHands asks for several calls at once, without details. That question shows the open "
        "calls.",
        (
            _ACP + "test_turn.py::test_a_question_about_all_calls_shows_them",
            "agents/acp/calls/test_identity.py"
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
            _CHECKS + "test_an_editor_tool_is_called_without_a_second_question",
        ),
    ),
    21: Surprise(
        "Most agents wait two minutes for a call, because they heed progress or have no limit. "
        "Older versions of Codex (0.16) give up after two minutes in any case. Kimi gives up "
        "after one minute, unless its own settings allow more.",
        "Progress is sent every ten seconds. If an agent gave a call up, its result is dropped, "
        "and the chat continues.",
        (
            _TOOLS + "test_a_call_that_takes_two_minutes_is_waited_for",
            _CLIENT + "test_it_waits_for_a_call_of_which_it_hears_progress",
        ),
    ),
    22: Surprise(
        "The model gets changed schemas. Codex leaves out patterns, formats, defaults and bounds; "
        "OpenCode and Code Puppy add that there are no other arguments.",
        "Nothing. The agents get the complete schemas.",
        (
            _TOOLS + "test_the_model_is_offered_all_forty_tools_with_their_schemas",
            _CLIENT + "test_it_lists_forty_tools_with_their_schemas_unchanged",
        ),
    ),
    23: Surprise(
        "In the first mode of Claude, Codex and Qwen, a model decides about permissions, and the "
        "user is seldom asked. In the first mode of Vibe, edits need no permission.",
        "They are put into the mode in which they ask (see the table above), unless everything is "
        "allowed. `settings.mode` chooses another mode.",
        (
            _ACP + "test_turn.py::test_an_agent_that_would_decide_by_itself_is_made_to_ask",
            _ACP + "test_quirks.py::test_vibe_asks_in_one_of_its_modes_alone",
            _ACP + "test_turn.py::test_an_agent_that_edits_without_asking_is_made_to_ask_each_time",
            _CHECKS + "test_what_is_allowed_is_done",
            _CHECKS + "test_what_is_denied_is_not_done_and_the_chat_goes_on",
        ),
    ),
    24: Surprise(
        "Codex and pi name a terminal for each command, although the client has none. The output "
        "and the exit status of the command are only in `_meta`.",
        "The terminal isn't shown. The pieces of the output are collected and shown as the call's "
        "result. If a command failed, its exit status is shown. No capability is advertised for "
        "that, because Claude then sends the same as ordinary content.",
        (
            _ACP + "render/test_tool_markdown.py::test_a_terminal_is_not_shown_for_there_is_none",
            _ACP + "render/test_tool_markdown.py::test_what_a_command_wrote_is_its_result",
            _ACP + "test_turn.py::test_what_a_command_wrote_is_shown_with_its_call",
        ),
    ),
    25: Surprise(
        "When a session is loaded, the MCP server is started before the session is looked for. If "
        "there is no session, the server is left running (Gemini).",
        "Each attempt to open a session has its own token, so the next one isn't blocked. If the "
        "agent has used the former server, the next one has another name.",
        (
            _ACP + "test_tools.py::"
            "test_a_load_that_fails_after_its_server_has_started_leaves_the_tools_to_the_next",
            _ACP + "test_reopened.py"
            "::test_a_way_that_fails_after_its_server_has_started_costs_the_next_one_nothing",
        ),
    ),
    26: Surprise(
        "OpenHands offers its model the tools of MCP servers without the server's name. The model "
        "must add a word about the danger of each call. The model gets only the types and the "
        "descriptions of a schema.",
        "Nothing. The call that reaches our server contains only our arguments.",
        (
            "real/test_scenario.py"
            "::test_a_call_says_how_dangerous_it_is_where_an_agent_insists_on_it",
        ),
    ),
    27: Surprise(
        "OpenHands asks its model for complete answers, and can't interrupt one. Text beside a "
        "call comes as a thought. So does its system prompt, before the first answer of a "
        "session.",
        "An answer appears when it is complete. A stop that takes too long ends the process.",
        (
            "real/test_scenario.py::test_a_reply_in_one_piece_holds_all_of_it",
            _ACP + "test_cancellation.py"
            "::test_an_agent_that_never_stops_is_ended_and_the_next_turn_works",
        ),
    ),
    28: Surprise(
        "Hermes asks before it edits a file, and before a command that it calls dangerous. After "
        "a minute it denies its question itself. Code Puppy never asks, unless its `puppy.cfg` "
        "has `yolo_mode = false`.",
        "Nothing can be denied without a question. An answer that comes too late has no effect.",
        (
            "real/test_scenario.py"
            "::test_a_file_is_written_without_a_shell_where_only_that_is_asked_about",
        ),
    ),
    29: Surprise(
        "An agent refuses with `Internal error`, and gives the reason only in the error's data "
        "(Gemini).",
        "The log and the error have that reason. Unknown methods of an extension cause no warning.",
        (
            _ACP + "test_existing.py::test_a_refused_load_is_logged_with_the_agents_own_reason",
            _ACP + "rpc/test_connection.py::test_an_extension_is_answered_and_is_nothing_odd",
        ),
    ),
    30: Surprise(
        "An agent writes to stdout why it can't be used, and ends with status 0 (Kimi 1.52).",
        "The error and the doctor quote its last lines there that are no messages.",
        (
            _ACP + "test_agent.py"
            "::test_an_agent_that_ends_before_it_is_ready_may_say_why_on_stdout",
            "vscodelm/doctor/test_examination.py"
            "::test_an_agent_that_fails_at_its_start_is_told_with_what_it_wrote_on_stdout",
        ),
    ),
    31: Surprise(
        "A cancelled prompt fails. From then on its session answers every prompt that it is "
        "queued (Hermes).",
        "If a cancelled prompt returns an error that isn't a cancellation, the session is given "
        "up. The next session gets the whole chat.",
        (
            _ACP + "test_cancellation.py::test_a_stop_that_fails_costs_the_session_alone",
            _ACP + "test_cancellation.py::test_a_stop_that_is_answered_with_an_abort_costs_nothing",
        ),
    ),
    32: Surprise(
        "If an agent has forgotten a session, loading it succeeds, and the session is empty (Qwen "
        "0.15). It also advertises the method to resume sessions, but doesn't know it.",
        "A load that sends no old messages counts as failed, so a new session gets the chat. An "
        "unknown method is remembered for that version.",
        (
            _ACP + "test_existing.py::test_a_load_that_tells_nothing_again_leads_to_a_new_session",
            _ACP + "test_existing.py::test_a_resume_that_is_no_method_is_asked_for_once",
            "actors/test_lost_sessions.py"
            "::test_a_chat_is_told_again_where_its_session_is_loaded_and_empty",
        ),
    ),
    33: Surprise(
        "If a session is loaded with an MCP server of another name, the model reads that the old "
        "one has disconnected (Claude).",
        "A continued session keeps its server's name, also after a restart.",
        (_ACP + "test_tools.py::test_a_session_that_goes_on_keeps_the_name_of_its_server",),
    ),
    34: Surprise(
        "If an agent has forgotten a session, resuming it succeeds, but each prompt is refused "
        "without a reason (Hermes). A fork has no id (Hermes), or the method doesn't exist (Code "
        "Puppy).",
        "If an agent has sent old messages on a resume, it must do so each time. If the first "
        "prompt is refused without a reason, the session is given up.",
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
        "Some calls never happen: only a question contains their id (OpenHands, Hermes). Some "
        "agents send nothing more about a denied call (Gemini, Qwen, Codex).",
        "If a call appears only in a question, it isn't shown. If the agent continues after a "
        "denial, the call is shown as *denied*.",
        (
            _ACP
            + "render/test_tool_calls.py::test_a_call_that_the_agent_only_asks_about_is_not_shown",
            _ACP + "render/test_tool_calls.py"
            "::test_a_call_that_was_denied_and_never_updated_is_shown_as_denied",
            _ACP
            + "test_turn.py::test_a_call_that_was_only_asked_about_is_shown_where_it_was_denied",
        ),
    ),
    36: Surprise(
        "A call of an editor's tool comes up to 0.1 s before its text and its announcement "
        "(OpenCode, Kilo).",
        "If an agent has announced calls before, a response with a call or a question waits up to "
        "0.25 s for the announcement. After three waits in vain nobody waits any more.",
        (
            _ACP + "test_tools.py::test_a_call_comes_after_the_text_that_precedes_it",
            _ACP + "test_tools.py"
            "::test_an_agent_that_announced_calls_in_another_session_is_waited_for",
            _ACP + "test_turn.py::test_a_question_comes_after_the_text_that_precedes_its_call",
        ),
    ),
    37: Surprise(
        "An agent ignores the MCP server that it is given with a session to load (OpenHands), or "
        "with one that its process still has open (Kimi, Qwen). A process keeps its servers by "
        "name, and connects to no other one of the same name (Hermes).",
        "Before the prompt, an agent that connects first is waited for, up to 10 seconds. If it "
        "doesn't connect, a new session is told the chat. An agent that connects late loses the "
        "session after its first answer. This is remembered for that version.",
        (
            _ACP + "test_reopened.py::test_a_chat_that_gets_tools_later_has_them_with_that_message",
            _ACP
            + "test_reopened.py::test_a_load_that_ignores_its_server_is_left_before_the_prompt",
            _ACP + "test_reopened.py"
            "::test_a_chat_whose_load_loses_its_tools_late_is_told_anew_and_so_is_each_later_one",
            _ACP + "test_reopened.py::test_a_server_whose_name_the_process_keeps_gets_another_name",
            _ACP + "test_reopened.py::test_a_session_that_may_have_its_tools_is_gone_on_with",
        ),
    ),
    38: Surprise(
        "A result comes in a wrapper: as JSON in JSON (Codex, Qwen), as the text of a Python "
        "object (Code Puppy), or as a list of names and values (Hermes). An empty result has a "
        "wrapper, too.",
        "The user reads the text in the wrapper. If the wrapper is empty, nothing is shown.",
        (
            _ACP + "render/test_call_results.py::test_the_text_in_a_result",
            _ACP + "render/test_call_results.py"
            "::test_a_result_that_python_shows_is_read_and_may_say_that_it_failed",
            _ACP + "render/test_python_text.py::test_an_object_that_python_shows_is_read",
        ),
    ),
    39: Surprise(
        "The input is wrapped, too: only in a question (Kilo), or with the name of a class "
        "(OpenHands). A question repeats its change as a patch in JSON (Kilo).",
        "A question shows the inner input, and nothing twice.",
        (
            _ACP + "render/test_question.py::test_what_is_in_a_wrapper_is_said_once",
            _ACP + "render/test_question.py"
            "::test_a_change_is_not_said_again_by_an_object_with_its_patch",
        ),
    ),
    40: Surprise(
        "The output of a command comes in `_meta`, outside of the protocol (Codex).",
        "It is collected, and shown when the call ends or the turn is over.",
        (
            _ACP + "render/test_tool_calls.py"
            "::test_what_a_command_wrote_is_shown_though_the_agent_has_gone_on",
        ),
    ),
    41: Surprise(
        "Denied and failed calls have the status completed (Code Puppy). Some agents begin a call "
        "only after it was denied (Kilo).",
        "If a result says that it failed, it counts as failed. After a denial the call is only "
        "shown again if it was made nevertheless.",
        (
            _ACP + "render/test_tool_calls.py"
            "::test_a_denied_call_that_is_called_completed_is_shown_as_denied",
            _ACP + "render/test_tool_calls.py"
            "::test_a_call_is_not_begun_after_why_it_was_denied_but_shown_where_it_was_made",
        ),
    ),
    42: Surprise(
        "The first thought of a session is the agent's own system prompt (OpenHands).",
        "It isn't shown.",
        (_ACP + "render/test_renderer.py::test_the_agents_system_prompt_is_no_thought",),
    ),
}


def surprises() -> str:
    """Return the surprises, answers and tests; raises `KeyError` for a test that doesn't exist."""
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
    """Return the agents, and the abilities that each lacks."""
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
    """Return the way in which each agent continues a chat."""
    rows = [
        [name, f"`{one.after_a_restart}`", "`session/fork`" if one.copies else "a replay"]
        for name, one in CONTINUITY.items()
    ]
    return table(["agent", "after a restart of vscodelm", "a copy of a whole chat"], rows)


def _lacks(lacks: Mapping[str, str]) -> Iterator[str]:
    for ability, reason in lacks.items():
        yield f"{ability}: {reason}"
