// The limits of the extension: what comes in from outside is bounded, and here is by how much.

const MEBIBYTE = 1024 * 1024;

/** The longest line to the program or from it, in bytes: the longest that the program takes. */
export const MAX_LINE_BYTES = 256 * MEBIBYTE;

/** The longest line of the program's log that is kept, in bytes. */
export const MAX_LOG_LINE_BYTES = 64 * 1024;

/** How much of a line that is too long is kept, in bytes: enough to tell whose answer it was part of. */
export const KEPT_OF_LONG_LINE_BYTES = 1024;

/** How deep a value of the editor may be nested. Python reads no JSON that is nested 1,000 deep. */
export const MAX_JSON_DEPTH = 200;

/** The largest settings file of a folder that is looked through for settings that don't count, in bytes. */
export const MAX_SETTINGS_BYTES = MEBIBYTE;

/** How long the program may take to answer the handshake: a first start compiles its code. */
export const HANDSHAKE_MS = 60_000;

/** How long the program may take to leave by itself, and then once more after it was told to. */
export const GRACE_MS = 3_000;

/** How long a program that was replaced waits for results of tool calls: as long as it keeps an idle chat. */
export const OPEN_CALLS_MS = 1_800_000;

/** Of how many tool calls it is remembered that their results haven't come. */
export const MAX_OPEN_CALLS = 1000;

/** How long a command of the program that is waited for may take: fetching the registry's index is one. */
export const COMMAND_MS = 120_000;

/** What such a command may print, in bytes. */
export const MAX_COMMAND_OUTPUT_BYTES = 64 * MEBIBYTE;

/** How long each step of an installation may take: a slow network fetches some 30 MB. */
export const INSTALL_STEP_MS = 600_000;

/** How much of what such a step prints is searched for the reason of its failure, in bytes. */
export const MAX_INSTALL_OUTPUT_BYTES = 64 * 1024;

/** The longest page of a package index, in bytes: it lists each file of each version. */
export const MAX_INDEX_PAGE_BYTES = 64 * MEBIBYTE;

/** The largest wheel of uv, in bytes. Its hash is known, but only when it is there. */
export const MAX_UV_WHEEL_BYTES = 128 * MEBIBYTE;

/** The largest program in it, in bytes. */
export const MAX_UV_BYTES = 256 * MEBIBYTE;

/** How often who installs shows that it is still at work. */
export const LOCK_BEAT_MS = 5_000;

/** After how long without such a sign an installation counts as left behind. */
export const LOCK_STALE_MS = 30_000;

/** Of how many questions that couldn't be asked it is remembered that the user was told. */
export const MAX_TOLD_QUESTIONS = 1000;

/** How long VS Code may take to switch its chat on, when the chat is set up. */
export const CHAT_STARTS_WITHIN_MS = 60_000;

/** How long VS Code may then take to list our models. */
export const MODELS_LISTED_WITHIN_MS = 30_000;

/** How long Eliza's answer in the chat may then take: the program starts for it. */
export const ELIZA_ANSWERS_WITHIN_MS = 120_000;

/** How many questions of agents wait for the user at most; of more, the oldest can't be answered. */
export const MAX_OPEN_QUESTIONS = 1000;
