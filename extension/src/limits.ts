// The limits of the extension: all input from outside has one of these bounds.

const MEBIBYTE = 1024 * 1024;

/** The longest line to the program or from it, in bytes: the longest that the program takes. */
export const MAX_LINE_BYTES = 256 * MEBIBYTE;

/** The longest line of the program's log that is kept, in bytes. */
export const MAX_LOG_LINE_BYTES = 64 * 1024;

/** The part of an overlong line that is kept, in bytes: enough to find its request. */
export const KEPT_OF_LONG_LINE_BYTES = 1024;

/** The most levels of a value of the editor. Python reads no JSON that is nested 1,000 deep. */
export const MAX_JSON_DEPTH = 200;

/** The largest settings file of a folder that is searched for ignored settings, in bytes. */
export const MAX_SETTINGS_BYTES = MEBIBYTE;

/** Time between two looks at a server's file of variables. */
export const ENV_FILE_MS = 1_000;

/** Time for the program to answer the handshake: a first start compiles its code. */
export const HANDSHAKE_MS = 60_000;

/** Time for the program to exit by itself, and then again after a signal. */
export const GRACE_MS = 3_000;

/** Time that a replaced program waits for results of tool calls: as long as it keeps an idle chat. */
export const OPEN_CALLS_MS = 1_800_000;

/** The most tool calls that are remembered because their results haven't come. */
export const MAX_OPEN_CALLS = 1000;

/** Time for a command of the program, such as fetching the registry's index. */
export const COMMAND_MS = 120_000;

/** The most that such a command may print, in bytes. */
export const MAX_COMMAND_OUTPUT_BYTES = 64 * MEBIBYTE;

/** Time for each step of an installation: a slow network fetches some 30 MB. */
export const INSTALL_STEP_MS = 600_000;

/** The end of such a step's output that is searched for the reason of a failure, in bytes. */
export const MAX_INSTALL_OUTPUT_BYTES = 64 * 1024;

/** The longest page of a package index, in bytes: it lists each file of each version. */
export const MAX_INDEX_PAGE_BYTES = 64 * MEBIBYTE;

/** The largest wheel of uv, in bytes. Its hash is known, but only when it is there. */
export const MAX_UV_WHEEL_BYTES = 128 * MEBIBYTE;

/** The largest program in it, in bytes. */
export const MAX_UV_BYTES = 256 * MEBIBYTE;

/** Time between two signs that an installation still runs. */
export const LOCK_BEAT_MS = 5_000;

/** Time without such a sign after which an installation counts as abandoned. */
export const LOCK_STALE_MS = 30_000;

/** The most failed questions that are remembered, to notify the user once of each. */
export const MAX_TOLD_QUESTIONS = 1000;

/** Time for VS Code to switch its chat on, when the chat is set up. */
export const CHAT_STARTS_WITHIN_MS = 60_000;

/** Time for VS Code to list our models after that. */
export const MODELS_LISTED_WITHIN_MS = 30_000;

/** Time for the editor to list a model that was added: it asks at once. */
export const ADDED_LISTED_WITHIN_MS = 3_000;

/** Time for Eliza's answer in the chat after that: the program has to start first. */
export const ELIZA_ANSWERS_WITHIN_MS = 120_000;

/** The most questions of agents that wait for the user; beyond that the oldest can't be answered. */
export const MAX_OPEN_QUESTIONS = 1000;

/** The most requests of the program, such as questions of agents, that are open at once. */
export const MAX_OPEN_REQUESTS = 100;

/** The most fields of a form. */
export const MAX_FORM_FIELDS = 100;

/** The most options of a field of a form. */
export const MAX_FIELD_OPTIONS = 1000;

/** The most characters of an agent's text that a form shows in one place. */
export const MAX_SHOWN_CHARACTERS = 1000;

/** The longest pattern of a form's field, in characters. */
export const MAX_PATTERN_CHARACTERS = 1000;

/** Time for an agent's pattern to match an input. Some patterns would take years. */
export const PATTERN_MS = 100;

/** Time between two looks at the agents' knowledge, while its page can be seen. */
export const INSPECTED_EVERY_MS = 2_000;

/** The newest lines of the log that a report has. */
export const MAX_KEPT_LINES = 200;

/** The most characters of such a line. */
export const MAX_KEPT_LINE = 2_000;
