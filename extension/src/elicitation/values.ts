// The values of a form: what the user enters in a field, read and checked.

import { matches } from "./pattern.ts";
import type { ChoicesField, Field, Format, NumberField, TextField } from "./schema.ts";

export type FieldValue = string | number | boolean | string[];

/** What a field's input comes to: a value, nothing in an optional field, or the words for what is wrong. */
export type Checked = { value: FieldValue | undefined } | { problem: string };

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const EXAMPLES: Record<Format, string> = {
  email: "name@example.org",
  uri: "https://example.org/page",
  date: "2030-12-31",
  "date-time": "2030-12-31T18:30:00Z",
};
const KINDS: Record<Format, string> = {
  email: "an email address",
  uri: "an address with its scheme",
  date: "a date",
  "date-time": "a date and time with its zone",
};

/** Check what was typed into a field. */
export function checkTyped(field: TextField | NumberField, typed: string): Checked {
  const text = field.kind === "number" || field.format !== undefined ? typed.trim() : typed;
  if (text === "") {
    return field.isRequired ? { problem: "This is needed." } : { value: undefined };
  }
  return field.kind === "number" ? checkNumber(field, text) : checkText(field, text);
}

/** Check what was chosen in a field for several options. */
export function checkChosen(field: ChoicesField, chosen: readonly string[]): Checked {
  const { minItems = 0, maxItems, isRequired, initial, options } = field;
  if (chosen.length === 0 && !isRequired && (minItems > 0 || initial === undefined)) {
    return { value: undefined };
  }
  if (chosen.length < minItems) {
    return { problem: `Choose at least ${minItems}.` };
  }
  if (maxItems !== undefined && chosen.length > maxItems) {
    return { problem: `Choose at most ${maxItems}.` };
  }
  return { value: options.map(({ value }) => value).filter((value) => chosen.includes(value)) };
}

/** Say what a field takes, for its empty box; undefined if there is nothing to say. */
export function hintOf(field: Field): string | undefined {
  switch (field.kind) {
    case "text":
      return field.format && `For example ${EXAMPLES[field.format]}`;
    case "number":
      return rangeWords(field);
    case "choice":
      return "Choose one";
    case "choices":
      return countWords(field);
  }
}

function checkNumber(field: NumberField, text: string): Checked {
  const { isInteger, minimum, maximum } = field;
  const value = Number(text);
  const fits =
    NUMBER.test(text) && (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (!fits || value < (minimum ?? value) || value > (maximum ?? value)) {
    return { problem: `${rangeWords(field)} is needed.` };
  }
  return { value };
}

function checkText(field: TextField, text: string): Checked {
  const { minLength = 0, maxLength, format, pattern } = field;
  const { length } = [...text];
  if (length < minLength) {
    return { problem: `At least ${characters(minLength)}, please: this has ${length}.` };
  }
  if (maxLength !== undefined && length > maxLength) {
    return { problem: `At most ${characters(maxLength)}, please: this has ${length}.` };
  }
  if (format !== undefined && !hasFormat(format, text)) {
    return { problem: `This isn't ${KINDS[format]}, such as ${EXAMPLES[format]}.` };
  }
  if (pattern !== undefined && matches(pattern, text) === false) {
    return { problem: `This doesn't fit the pattern ${pattern}` };
  }
  return { value: text };
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}

function rangeWords({ isInteger, minimum, maximum }: NumberField): string {
  const what = isInteger ? "A whole number" : "A number";
  if (minimum !== undefined && maximum !== undefined) {
    return `${what} from ${minimum} to ${maximum}`;
  }
  if (minimum !== undefined) {
    return `${what} of at least ${minimum}`;
  }
  return maximum === undefined ? what : `${what} of at most ${maximum}`;
}

function countWords({ minItems = 0, maxItems }: ChoicesField): string {
  if (minItems > 0) {
    return maxItems === undefined
      ? `Choose at least ${minItems}`
      : minItems === maxItems
        ? `Choose ${minItems}`
        : `Choose ${minItems} to ${maxItems}`;
  }
  return maxItems === undefined ? "Choose any number" : `Choose at most ${maxItems}`;
}

function hasFormat(format: Format, text: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text);
    case "date":
      return isDate(text);
    case "date-time": {
      const [, day = "", hour, minute, second] =
        /^(\S{10})t(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(
          text,
        ) ?? [];
      return isDate(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60;
    }
  }
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(time || 0).toISOString().startsWith(text);
}
