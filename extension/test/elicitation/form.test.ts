import { expect, test } from "vitest";
import { type FieldReply, type FormStep, fillInForm } from "../../src/elicitation/form.ts";
import { fieldsOf } from "../../src/elicitation/schema.ts";

const { fields } = fieldsOf({
  properties: {
    name: { type: "string", default: "Ada" },
    age: { type: "integer", default: 36 },
    member: { type: "boolean" },
  },
  required: ["name", "age", "member"],
});

/** Fill in with replies, one for each step that is shown; return the steps and the outcome. */
async function fill(...replies: FieldReply[]) {
  const steps: [number, unknown][] = [];
  const outcome = await fillInForm(fields, async ({ number, input }: FormStep) => {
    steps.push([number, input]);
    return replies.shift() ?? { action: "cancel" };
  });
  return { steps, outcome };
}

const next = (
  value: string | number | boolean | undefined,
  input: FieldReply | unknown = value,
): FieldReply => ({
  action: "next",
  input: input as string,
  value,
});

test("the fields are asked in order, with their defaults, and give the content", async () => {
  const { steps, outcome } = await fill(next("Eve"), next(7, "7"), next(false));
  expect(steps).toEqual([
    [1, "Ada"],
    [2, "36"],
    [3, undefined],
  ]);
  expect(outcome).toEqual({ action: "accept", content: { name: "Eve", age: 7, member: false } });
});

test("a field that was left empty isn't in the content", async () => {
  const { outcome } = await fill(next("Eve"), next(undefined, ""), next(true));
  expect(outcome).toStrictEqual({ action: "accept", content: { name: "Eve", member: true } });
});

test("the way back keeps what was entered, even if it is wrong", async () => {
  const { steps, outcome } = await fill(
    next("Eve"),
    { action: "back", input: "seven" },
    next("Eva"),
    next(7, "7"),
    { action: "back", input: undefined },
    next(8, "8"),
    next(true),
  );
  expect(steps.map(([number, input]) => `${number} ${input}`)).toEqual([
    ...["1 Ada", "2 36", "1 Eve", "2 seven", "3 undefined", "2 7", "3 undefined"],
  ]);
  expect(outcome).toEqual({ action: "accept", content: { name: "Eva", age: 8, member: true } });
});

test.each(["decline", "cancel"] as const)("%s ends the form at any field", async (action) => {
  for (const before of [[], [next("Eve")], [next("Eve"), next(7)]]) {
    const { steps, outcome } = await fill(...before, { action });
    expect(outcome).toEqual({ action });
    expect(steps).toHaveLength(before.length + 1);
  }
});

test("there is nothing before the first field", async () => {
  const { steps } = await fill({ action: "back", input: "x" });
  expect(steps).toEqual([
    [1, "Ada"],
    [1, "x"],
  ]);
});

test("any way through the form ends with the last values of each field", async () => {
  let seed = 1;
  const chance = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let run = 0; run < 200; run++) {
    const last: Record<string, unknown> = {};
    const kept = new Map<number, unknown>();
    let shown = 0;
    const outcome = await fillInForm(fields, async ({ field, number, input }) => {
      if (kept.has(number)) {
        expect(input).toBe(kept.get(number)); // as it was left
      }
      const entered = chance(1000);
      kept.set(number, String(entered));
      if (number > 1 && ++shown < 50 && chance(2) === 0) {
        return { action: "back", input: String(entered) };
      }
      last[field.name] = entered;
      return { action: "next", input: String(entered), value: entered };
    });
    expect(outcome).toEqual({ action: "accept", content: last });
  }
});

test("a field may have any name", async () => {
  const odd = fieldsOf(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')).fields;
  const outcome = await fillInForm(odd, async () => next("x"));
  expect(JSON.stringify(outcome)).toBe('{"action":"accept","content":{"__proto__":"x"}}');
});
