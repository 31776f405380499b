// A form that is filled in field by field, with a way back. What was entered stays where it was.

import type { ElicitContent } from "../program/wire.ts";
import type { Field } from "./schema.ts";
import type { FieldValue } from "./values.ts";

/** What stands in a field: the text as typed, or what is chosen; undefined for nothing. */
export type FieldInput = FieldValue | undefined;

/** A field, as it is to be shown. */
export interface FormStep {
  field: Field;
  /** Counted from 1. */
  number: number;
  total: number;
  input: FieldInput;
}

/** What the user did with a field. Back keeps the input, even if it is wrong. */
export type FieldReply =
  | { action: "next"; input: FieldInput; value: FieldInput }
  | { action: "back"; input: FieldInput }
  | { action: "decline" | "cancel" };

type Outcome = { action: "accept"; content: ElicitContent } | { action: "decline" | "cancel" };

/** Have the fields filled in, each by `ask`. */
export async function fillInForm(
  fields: readonly Field[],
  ask: (step: FormStep) => Promise<FieldReply>,
): Promise<Outcome> {
  const inputs = fields.map(
    ({ kind, initial }): FieldInput => (kind === "number" ? typed(initial) : initial),
  );
  const values: FieldInput[] = fields.map(() => undefined);
  for (let at = 0; at < fields.length; ) {
    const field = fields[at] as Field;
    const reply = await ask({ field, number: at + 1, total: fields.length, input: inputs[at] });
    switch (reply.action) {
      case "next":
        inputs[at] = reply.input;
        values[at++] = reply.value;
        break;
      case "back":
        inputs[at] = reply.input;
        at = Math.max(at - 1, 0);
        break;
      default:
        return { action: reply.action };
    }
  }
  return { action: "accept", content: contentOf(fields, values) };
}

/** Return the values by the names of their fields; a field that was left empty has none. */
function contentOf(fields: readonly Field[], values: readonly FieldInput[]): ElicitContent {
  const entries = fields.map(({ name }, index) => [name, values[index]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, FieldValue] => entry[1] !== undefined),
  );
}

function typed(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
