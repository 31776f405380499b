// The schema of a form, read into its fields: the flat objects of MCP's and ACP's elicitation.
//
// A wrong part that isn't needed, such as a default of another type, is left out. A schema whose form
// nobody could fill in throws `Unreadable`.

import { isObject } from "../json.ts";
import { MAX_FIELD_OPTIONS, MAX_FORM_FIELDS, MAX_PATTERN_CHARACTERS } from "../limits.ts";
import { compiled } from "./pattern.ts";

/** The form can't be shown; the message says why. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

interface CommonField {
  /** The name of its value in the answer. */
  name: string;
  title: string;
  description?: string;
  isRequired: boolean;
}

export type Format = "email" | "uri" | "date" | "date-time";

export interface TextField extends CommonField {
  kind: "text";
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: Format;
  /** Whether nobody may read it over the user's shoulder. */
  isSecret: boolean;
  initial?: string;
}

export interface NumberField extends CommonField {
  kind: "number";
  isInteger: boolean;
  minimum?: number;
  maximum?: number;
  initial?: number;
}

interface Option<T = string | boolean> {
  value: T;
  title: string;
  description?: string;
}

export interface ChoiceField extends CommonField {
  kind: "choice";
  options: Option[];
  initial?: string | boolean;
}

export interface ChoicesField extends CommonField {
  kind: "choices";
  options: Option<string>[];
  minItems?: number;
  maxItems?: number;
  initial?: string[];
}

export type Field = TextField | NumberField | ChoiceField | ChoicesField;

interface FormFields {
  fields: Field[];
  /** The optional fields that no form can show, each with the reason. */
  omitted: string[];
}

type Json = Record<string, unknown>;

const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"] satisfies Format[];

/** Read a schema. */
export function fieldsOf(schema: unknown): FormFields {
  if (!isObject(schema) || (given(schema.type) ?? "object") !== "object") {
    throw new Unreadable("its schema isn't that of an object");
  }
  const properties = given(schema.properties) ?? {};
  if (!isObject(properties)) {
    throw new Unreadable("its properties aren't an object");
  }
  const entries = Object.entries(properties);
  if (entries.length > MAX_FORM_FIELDS) {
    throw new Unreadable(`it has ${entries.length} fields of at most ${MAX_FORM_FIELDS}`);
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const form: FormFields = { fields: [], omitted: [] };
  for (const [name, property] of entries) {
    const isRequired = required.includes(name);
    try {
      form.fields.push(fieldOf(name, property, isRequired));
    } catch (error) {
      if (isRequired || !(error instanceof Unreadable)) {
        throw error;
      }
      form.omitted.push(error.message);
    }
  }
  return form;
}

function fieldOf(name: string, property: unknown, isRequired: boolean): Field {
  const fails = (why: string) => new Unreadable(`its field ${JSON.stringify(name)} ${why}`);
  if (!isObject(property)) {
    throw fails("isn't an object");
  }
  const description = text(property.description);
  const common: CommonField = {
    name,
    title: text(property.title) ?? name,
    ...(description !== undefined && { description }),
    isRequired,
  };
  switch (property.type) {
    case "string":
      return stringField(common, property, fails);
    case "number":
    case "integer":
      return numberField(common, property, fails);
    case "boolean":
      return booleanField(common, property);
    case "array":
      return choicesField(common, property, fails);
    default:
      throw fails(`has a type that no form can show: ${JSON.stringify(property.type)}`);
  }
}

type Fails = (why: string) => Unreadable;

function stringField(common: CommonField, property: Json, fails: Fails): Field {
  const { default: initial, format, pattern } = property;
  const options = optionsOf(property, ["oneOf", "anyOf"], fails);
  if (options !== undefined) {
    const isKnown = options.some(({ value }) => value === initial);
    return { ...common, kind: "choice", options, ...(isKnown && { initial: initial as string }) };
  }
  const bounds = boundsOf(property, "minLength", "maxLength", fails);
  return {
    ...common,
    ...bounds,
    kind: "text",
    ...(isUsablePattern(pattern) && { pattern }),
    ...(FORMATS.includes(format) && { format: format as Format }),
    isSecret: format === "password" || property.writeOnly === true,
    ...(typeof initial === "string" && { initial }),
  };
}

function numberField(common: CommonField, property: Json, fails: Fails): NumberField {
  const { default: initial, type } = property;
  const isInteger = type === "integer";
  const fits = typeof initial === "number" && (!isInteger || Number.isSafeInteger(initial));
  const bounds = boundsOf(property, "minimum", "maximum", fails);
  return { ...common, ...bounds, kind: "number", isInteger, ...(fits && { initial }) };
}

function booleanField(common: CommonField, { default: initial }: Json): ChoiceField {
  const options = [
    { value: true, title: "Yes" },
    { value: false, title: "No" },
  ];
  return { ...common, kind: "choice", options, ...(typeof initial === "boolean" && { initial }) };
}

function choicesField(common: CommonField, property: Json, fails: Fails): ChoicesField {
  const { items, default: initial } = property;
  const options = isObject(items) ? optionsOf(items, ["anyOf", "oneOf"], fails) : undefined;
  if (options === undefined) {
    throw fails("has no options");
  }
  const bounds = boundsOf(property, "minItems", "maxItems", fails);
  if ((bounds.minItems ?? 0) > options.length) {
    throw fails(`wants ${bounds.minItems} of ${options.length} options`);
  }
  const known = Array.isArray(initial)
    ? options.map(({ value }) => value).filter((value) => initial.includes(value))
    : undefined;
  return { ...common, ...bounds, kind: "choices", options, ...(known && { initial: known }) };
}

/** Return the options of a schema, undefined if it has no list of options. */
function optionsOf(schema: Json, titled: string[], fails: Fails): Option<string>[] | undefined {
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  const plain = Array.isArray(schema.enum)
    ? schema.enum.map((value, index) => ({ const: value, title: names[index] }))
    : undefined;
  const [list = plain] = titled.map((key) => schema[key]).filter((one) => Array.isArray(one));
  if (list === undefined) {
    return undefined;
  }
  if (list.length === 0 || list.length > MAX_FIELD_OPTIONS) {
    throw fails(`has ${list.length} options; 1 to ${MAX_FIELD_OPTIONS} can be shown`);
  }
  return list.map((option) => {
    const { const: value, title, description } = isObject(option) ? option : ({} as Json);
    if (typeof value !== "string") {
      throw fails("has an option that isn't a text");
    }
    const more = text(description);
    const words = text(title) ?? value;
    return { value, title: words, ...(more !== undefined && { description: more }) };
  });
}

/** Return the bounds that a schema gives. */
function boundsOf<Low extends string, High extends string>(
  schema: Json,
  low: Low,
  high: High,
  fails: Fails,
): { [Bound in Low | High]?: number } {
  const [least, most] = [schema[low], schema[high]];
  if (typeof least === "number" && typeof most === "number" && least > most) {
    throw fails(`wants at least ${least} and at most ${most}`);
  }
  const bounds = Object.entries({ [low]: least, [high]: most });
  return Object.fromEntries(bounds.filter(([, bound]) => typeof bound === "number")) as {
    [Bound in Low | High]?: number;
  };
}

function isUsablePattern(pattern: unknown): pattern is string {
  return (
    typeof pattern === "string" &&
    pattern.length <= MAX_PATTERN_CHARACTERS &&
    compiled(pattern) !== undefined
  );
}

/** In these schemas null means that something isn't given. */
function given(value: unknown): unknown {
  return value ?? undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
