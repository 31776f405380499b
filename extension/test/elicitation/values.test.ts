import { expect, test } from "vitest";
import { type Field, fieldsOf } from "../../src/elicitation/schema.ts";
import { checkChosen, checkTyped, hintOf } from "../../src/elicitation/values.ts";

function fieldOf<Kind extends Field["kind"]>(property: object, isRequired = true) {
  const required = isRequired ? ["a"] : [];
  const [field] = fieldsOf({ properties: { a: property }, required }).fields;
  return field as Extract<Field, { kind: Kind }>;
}

const typed = (property: object, text: string, isRequired = true) =>
  checkTyped(fieldOf<"text" | "number">(property, isRequired), text);
const chosen = (property: object, values: string[], isRequired = true) =>
  checkChosen(fieldOf<"choices">({ type: "array", ...property }, isRequired), values);

const STRING = { type: "string" };
const format = (name: string) => ({ ...STRING, format: name });

test.each([
  [STRING, " a b ", " a b "],
  [{ ...STRING, minLength: 2, maxLength: 2 }, "👍👍", "👍👍"],
  [{ ...STRING, pattern: "^[A-Z]+-\\d+$" }, "AB-12", "AB-12"],
  [{ ...STRING, pattern: "^(a+)+$" }, `${"a".repeat(60)}!`, `${"a".repeat(60)}!`], // takes for ever
  [format("email"), " me@example.org ", "me@example.org"],
  [format("uri"), "https://example.org/a?b=c", "https://example.org/a?b=c"],
  [format("uri"), "mailto:me@example.org", "mailto:me@example.org"],
  [format("date"), "2028-02-29", "2028-02-29"],
  [format("date-time"), "2026-11-26T09:30:00Z", "2026-11-26T09:30:00Z"],
  [format("date-time"), "2026-11-26T09:30:00.25+05:30", "2026-11-26T09:30:00.25+05:30"],
  [{ type: "number" }, " -1.5e3 ", -1500],
  [{ type: "number" }, ".5", 0.5],
  [{ type: "integer" }, "007", 7],
  [{ type: "integer", minimum: 0, maximum: 0 }, "0", 0],
  [{ type: "integer" }, "9007199254740991", 9007199254740991],
])("%j takes %j", (property, text, value) => {
  expect(typed(property, text)).toEqual({ value });
});

test.each([
  [{ ...STRING, minLength: 2 }, "👍", "At least 2 characters, please: this has 1."],
  [{ ...STRING, maxLength: 1 }, "ab", "At most 1 character, please: this has 2."],
  [{ ...STRING, pattern: "^a$" }, "b", "This doesn't fit the pattern ^a$"],
  [format("email"), "me", "This isn't an email address, such as name@example.org."],
  [format("email"), "me @example.org", "isn't an email address"],
  [format("uri"), "example.org", "isn't an address with its scheme"],
  [format("uri"), "https://a b", "isn't an address"],
  [format("date"), "2026-02-29", "isn't a date"],
  [format("date"), "2026-2-1", "isn't a date"],
  [format("date-time"), "2026-11-26", "isn't a date and time"],
  [format("date-time"), "2026-11-26T09:30:00", "isn't a date and time with its zone"],
  [format("date-time"), "2026-11-26T24:30:00Z", "isn't a date and time"],
  [format("date-time"), "2026-13-26T09:30:00Z", "isn't a date and time"],
  [{ type: "number" }, "1,5", "A number is needed."],
  [{ type: "number" }, "Infinity", "A number is needed."],
  [{ type: "number" }, "0x10", "A number is needed."],
  [{ type: "number" }, "1e999", "A number is needed."],
  [{ type: "integer" }, "1.5", "A whole number is needed."],
  [{ type: "integer" }, "9007199254740993", "A whole number is needed."],
  [{ type: "integer", minimum: 1, maximum: 5 }, "0", "A whole number from 1 to 5 is needed."],
  [{ type: "integer", minimum: 1, maximum: 5 }, "6", "A whole number from 1 to 5 is needed."],
  [{ type: "number", minimum: 1 }, "0.9", "A number of at least 1 is needed."],
  [{ type: "number", maximum: 1 }, "1.1", "A number of at most 1 is needed."],
])("%j refuses %j, and says why", (property, text, problem) => {
  expect(typed(property, text)).toEqual({ problem: expect.stringContaining(problem) });
});

test.each([STRING, { type: "number" }, format("email"), { ...STRING, minLength: 3 }])(
  "%j may be left empty, unless it is needed",
  (property) => {
    expect(typed(property, "", false)).toEqual({ value: undefined });
    expect(typed(property, "")).toEqual({ problem: "This is needed." });
  },
);

const AB = { items: { enum: ["a", "b", "c"] } };

test.each([
  [AB, ["b", "a"], ["a", "b"]], // in the order of the options
  [AB, [], []],
  [{ ...AB, minItems: 1, maxItems: 2 }, ["a"], ["a"]],
  [{ ...AB, minItems: 1, maxItems: 2 }, ["a", "b"], ["a", "b"]],
])("of %j %j is %j", (property, values, value) => {
  expect(chosen(property, values)).toEqual({ value });
});

test("too few and too many options are refused", () => {
  expect(chosen({ ...AB, minItems: 1 }, [])).toEqual({ problem: "Choose at least 1." });
  expect(chosen({ ...AB, maxItems: 1 }, ["a", "b"])).toEqual({ problem: "Choose at most 1." });
  expect(chosen({ ...AB, minItems: 2 }, ["a"], false)).toEqual({ problem: "Choose at least 2." });
});

test("an optional choice of nothing is no answer, unless it takes a default away", () => {
  expect(chosen(AB, [], false)).toEqual({ value: undefined });
  expect(chosen({ ...AB, minItems: 1, default: ["a"] }, [], false)).toEqual({ value: undefined });
  expect(chosen({ ...AB, default: ["a"] }, [], false)).toEqual({ value: [] });
});

test.each([
  [STRING, undefined],
  [format("date"), "For example 2030-12-31"],
  [{ type: "integer", minimum: 1, maximum: 5 }, "A whole number from 1 to 5"],
  [{ type: "boolean" }, "Choose one"],
  [{ type: "array", ...AB }, "Choose any number"],
  [{ type: "array", ...AB, maxItems: 2 }, "Choose at most 2"],
  [{ type: "array", ...AB, minItems: 1 }, "Choose at least 1"],
  [{ type: "array", ...AB, minItems: 2, maxItems: 2 }, "Choose 2"],
  [{ type: "array", ...AB, minItems: 1, maxItems: 2 }, "Choose 1 to 2"],
])("the empty box of %j says: %s", (property, hint) => {
  expect(hintOf(fieldOf(property))).toBe(hint);
});
