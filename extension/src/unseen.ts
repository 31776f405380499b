// Characters that a person doesn't see, so that they could hide what a text says.

type Ranges = readonly (readonly [first: number, last: number])[];

/** Control characters, and those that turn the direction of the text around them. */
const TURNING: Ranges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
];

/** Return a text in which `shown` stands for the characters that control it or turn it round. */
export function withoutTurning(text: string, shown: (character: string) => string): string {
  let result = "";
  for (const character of text) {
    result += isTurning(character.codePointAt(0) ?? 0) ? shown(character) : character;
  }
  return result;
}

function isTurning(code: number): boolean {
  return TURNING.some(([first, last]) => first <= code && code <= last);
}
