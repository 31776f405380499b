// Names that a person gives: of models, their ids in the settings, and the variables of their keys.

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Return the fault of an id, undefined if there is none. */
export function whyNoId(id: string): string | undefined {
  return ID.test(id) ? undefined : "Letters, digits, and then also . _ and -";
}

/** Return the fault of an environment variable's name, undefined if there is none. */
export function whyNoVariable(name: string): string | undefined {
  return VARIABLE.test(name) ? undefined : "Letters, digits and _, as variables are named.";
}

/** Return an id made of a name's letters and digits. */
export function idOf(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+(?:\.[a-z0-9]+)*/g);
  return words?.join("-") ?? "agent";
}

/** Return the name of a program without its folder and the ending that Windows wants. */
export function programName(command: string): string {
  const last = command.split(/[\\/]/).findLast((part) => part !== "") ?? command;
  return last.replace(/\.(?:exe|cmd|bat)$/i, "");
}

/** Return a name, with a number if it is taken. */
export function unique(name: string, taken: readonly string[], gap: string): string {
  let found = name;
  for (let number = 2; taken.includes(found); number++) {
    found = `${name}${gap}${number}`;
  }
  return found;
}

/** Return a variable for the key of one model alone, where others of its kind have theirs in `variable`. */
export function ownVariable(variable: string, id: string, taken: readonly string[]): string {
  const suffix = id.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return unique(`${variable}_${suffix}`, taken, "_");
}
