// Text of an agent's inside Markdown of ours. It comes from a model, so it may try to look like ours.

const SPECIAL = /[\\`*_{}[\]()#+\-.!|<>~&$:@]/g;

/** Return text on one line, in which nothing is Markdown. */
export function inline(text: string): string {
  return text.replace(/\s+/g, " ").trim().replace(SPECIAL, "\\$&");
}

/** Return text in a block of code, which it can't end. */
export function block(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) {
    longest = Math.max(longest, run.length);
  }
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
