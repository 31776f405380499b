// The lines that a change takes away and adds, as a person reads a diff.

const AROUND = 3;

/** Return a diff of two texts: what they begin and end with alike is cut to a few lines. */
export function diff(before: string, after: string): string {
  const old = lines(before);
  const now = lines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) {
    start++;
  }
  let oldEnd = old.length;
  let nowEnd = now.length;
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1]) {
    oldEnd--;
    nowEnd--;
  }
  const head = old.slice(Math.max(0, start - AROUND), start);
  const tail = old.slice(oldEnd, oldEnd + AROUND);
  return [
    ...head.map((line) => `  ${line}`),
    ...old.slice(start, oldEnd).map((line) => `- ${line}`),
    ...now.slice(start, nowEnd).map((line) => `+ ${line}`),
    ...tail.map((line) => `  ${line}`),
  ].join("\n");
}

function lines(text: string): string[] {
  const split = text.split(/\r?\n/);
  if (split.at(-1) === "") {
    split.pop();
  }
  return split;
}
