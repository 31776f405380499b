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

/** All that isn't seen, or looks like a blank without being one: Unicode's Cc, Cf, Zs, Zl and Zp. */
const UNSEEN: Ranges = [
  ...TURNING,
  [0xa0, 0xa0],
  [0xad, 0xad],
  [0x600, 0x605],
  [0x61c, 0x61c],
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x890, 0x891],
  [0x8e2, 0x8e2],
  [0x1680, 0x1680],
  [0x180e, 0x180e],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x3000, 0x3000],
  [0xd800, 0xdfff], // a half of a character
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0001, 0xe007f],
];

/** Return a text in which `shown` stands for every character that isn't seen. */
export function withoutUnseen(text: string, shown: (character: string) => string): string {
  return replaced(text, UNSEEN, shown);
}

/** Return a text in which `shown` stands for the characters that control it or turn it round. */
export function withoutTurning(text: string, shown: (character: string) => string): string {
  return replaced(text, TURNING, shown);
}

function replaced(text: string, what: Ranges, shown: (character: string) => string): string {
  let result = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isMeant = what.some(([first, last]) => first <= code && code <= last);
    result += isMeant ? shown(character) : character;
  }
  return result;
}
