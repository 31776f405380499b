// The limits of the extension: what comes in from outside is bounded, and here is by how much.

/** The largest settings file of a folder that is looked through for settings that don't count, in bytes. */
export const MAX_SETTINGS_BYTES = 1024 * 1024;
