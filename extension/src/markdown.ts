// Text of an agent's inside Markdown of ours. It comes from a model, so it may try to look like ours.

const SPECIAL = /[\\`*_{}[\]()#+\-.!|<>~&$:@]/g;

/** Return text on one line, in which nothing is Markdown. */
export function inline(text: string): string {
  return text.replace(/\s+/g, " ").trim().replace(SPECIAL, "\\$&");
}

/** Return text in a block of code, which it can't end. */
export function block(text: string, language = ""): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = Math.max(2, ...runs.map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
