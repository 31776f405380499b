import { expect, test } from "vitest";
import { fieldsOf, Unreadable } from "../../src/elicitation/schema.ts";
import { MAX_FIELD_OPTIONS, MAX_FORM_FIELDS, MAX_PATTERN_CHARACTERS } from "../../src/limits.ts";

const read = (properties: object, more: object = {}) =>
  fieldsOf({ type: "object", properties, ...more });
const only = (property: object) => {
  const { fields, omitted } = read({ a: property });
  expect([fields.length, omitted]).toEqual([1, []]);
  return fields[0];
};

test("the fields have the order of the schema, their names, and whether they are needed", () => {
  const { fields } = read(
    {
      name: { type: "string", title: "Your name", description: "As in the passport" },
      age: { type: "integer", title: null, description: null },
    },
    { required: ["age", "unknown"] },
  );
  expect(fields).toMatchObject([
    { name: "name", title: "Your name", description: "As in the passport", isRequired: false },
    { name: "age", title: "age", isRequired: true },
  ]);
  expect(fields[1]).not.toHaveProperty("description");
});

test.each([
  [{ type: "string" }, { kind: "text", isSecret: false }],
  [
    { type: "string", minLength: 1, maxLength: 3, pattern: "^a", format: "email", default: "ab" },
    { minLength: 1, maxLength: 3, pattern: "^a", format: "email", initial: "ab" },
  ],
  [{ type: "string", format: "password" }, { isSecret: true }],
  [{ type: "string", writeOnly: true }, { isSecret: true }],
  [
    { type: "integer", minimum: 1, maximum: 3, default: 2 },
    { kind: "number", isInteger: true },
  ],
  [
    { type: "number", minimum: 0.5, default: 0.7 },
    { minimum: 0.5, initial: 0.7 },
  ],
  [
    { type: "boolean", default: false },
    { kind: "choice", initial: false, options: [{ value: true }, { value: false }] },
  ],
  [
    { type: "string", enum: ["a", "b"], enumNames: ["First", "Second"], default: "b" },
    {
      options: [
        { value: "a", title: "First" },
        { value: "b", title: "Second" },
      ],
      initial: "b",
    },
  ],
  [
    { type: "string", enum: ["a", "b"], enumNames: ["First"] },
    { options: [{ title: "First" }, { value: "b", title: "b" }] },
  ],
  [
    { type: "string", oneOf: [{ const: "a", title: "First", description: "The first" }] },
    { options: [{ value: "a", title: "First", description: "The first" }] },
  ],
  [
    { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2 },
    { kind: "choices", options: [{ value: "a" }, { value: "b" }], minItems: 1, maxItems: 2 },
  ],
  [
    { type: "array", items: { anyOf: [{ const: "a", title: "A" }] }, default: ["z", "a", 3] },
    { options: [{ value: "a", title: "A" }], initial: ["a"] },
  ],
  [
    { type: "array", items: { oneOf: [{ const: "a", title: "A" }] } },
    { options: [{ value: "a" }] },
  ],
])("%j becomes its field", (property, expected) => {
  expect(only(property)).toMatchObject(expected);
});

test.each([
  [{ type: "string", default: 3 }, "initial"],
  [{ type: "string", enum: ["a"], default: "b" }, "initial"],
  [{ type: "string", minLength: null }, "minLength"],
  [{ type: "string", format: "color" }, "format"],
  [{ type: "string", pattern: "(" }, "pattern"],
  [{ type: "string", pattern: "x".repeat(MAX_PATTERN_CHARACTERS + 1) }, "pattern"],
  [{ type: "integer", default: 1.5 }, "initial"],
  [{ type: "integer", default: "1" }, "initial"],
  [{ type: "boolean", default: "yes" }, "initial"],
  [{ type: "array", items: { enum: ["a"] }, default: "a" }, "initial"],
])("of %j only %s is left out", (property, key) => {
  expect(only(property)).not.toHaveProperty(key);
});

test("the longest pattern is used", () => {
  const pattern = "x".repeat(MAX_PATTERN_CHARACTERS);
  expect(only({ type: "string", pattern })).toHaveProperty("pattern", pattern);
});

test.each([
  [{ type: "object", properties: {} }, 'has a type that no form can show: "object"'],
  [{ type: "_own" }, "type that no form can show"],
  [{}, "type that no form can show: undefined"],
  ["string", "isn't an object"],
  [{ type: "string", enum: [] }, "has 0 options"],
  [{ type: "string", enum: [1, 2] }, "an option that isn't a text"],
  [{ type: "string", oneOf: [null] }, "an option that isn't a text"],
  [{ type: "array" }, "has no options"],
  [{ type: "array", items: { type: "string" } }, "has no options"],
  [{ type: "array", items: { enum: ["a"] }, minItems: 2 }, "wants 2 of 1 options"],
  [{ type: "string", minLength: 3, maxLength: 2 }, "at least 3 and at most 2"],
  [{ type: "integer", minimum: 3, maximum: 2 }, "at least 3 and at most 2"],
])("nobody can fill in %j: it is left out, or the form isn't shown", (property, why) => {
  const { fields, omitted } = read({ a: property, b: { type: "string" } });
  expect(fields).toMatchObject([{ name: "b" }]);
  expect(omitted).toHaveLength(1);
  expect(omitted[0]).toMatch(/^its field "a" /);
  expect(omitted[0]).toContain(why);
  expect(() => read({ a: property }, { required: ["a"] })).toThrow(Unreadable);
});

test.each([
  [undefined, "isn't that of an object"],
  [[], "isn't that of an object"],
  ["form", "isn't that of an object"],
  [{ type: "string" }, "isn't that of an object"],
  [{ type: "object", properties: [] }, "properties aren't an object"],
])("%j is no form", (schema, why) => {
  expect(() => fieldsOf(schema)).toThrow(why);
});

test.each([{}, { type: "object" }, { type: null, properties: null, required: null }])(
  "%j is a form without fields",
  (schema) => {
    expect(fieldsOf(schema)).toEqual({ fields: [], omitted: [] });
  },
);

test("so many fields and options can be shown, and no more", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { type: "string" }]));
  expect(read(many(MAX_FORM_FIELDS)).fields).toHaveLength(MAX_FORM_FIELDS);
  expect(() => read(many(MAX_FORM_FIELDS + 1))).toThrow("101 fields of at most 100");
  const options = (count: number) => ({
    a: { type: "string", enum: Array.from({ length: count }, (_, at) => `${at}`) },
  });
  expect(read(options(MAX_FIELD_OPTIONS)).fields).toHaveLength(1);
  expect(read(options(MAX_FIELD_OPTIONS + 1)).omitted).toEqual([
    expect.stringContaining("has 1001 options"),
  ]);
});
