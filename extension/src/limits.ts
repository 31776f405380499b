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
