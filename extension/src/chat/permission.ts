// An agent's question for permission, as the bridge asks it.

/** The input of a call of the permission tool, as far as it is used here. */
export interface PermissionInput {
  title: string;
  kind: string;
  /** The question as Markdown, made by the bridge: nothing in it is Markdown of the agent's. */
  message: string;
  /** A warning about an approval, for example that it can't be for once. */
  note: string | undefined;
  /** The name of this very action; beside it, the command to show. */
  action: string | undefined;
  command: string | undefined;
  /** The approvals for longer that the agent itself offers. */
  lasting: { id: string; name: string }[];
}

/** The kinds of action that can be allowed for longer than once, with a description of each. */
export const LASTING_KINDS: Record<string, string> = {
  read: "read files",
  edit: "change any file",
  delete: "delete anything",
  move: "move files",
  search: "search",
  execute: "run any command",
  think: "think",
  fetch: "fetch from the network",
};

const TITLES: Record<string, string> = {
  read: "Read?",
  edit: "Edit a file?",
  delete: "Delete?",
  move: "Move?",
  search: "Search?",
  execute: "Run a command?",
  think: "Think?",
  fetch: "Fetch from the network?",
  switch_mode: "Change the agent's mode?",
};

export function titleOf({ kind }: PermissionInput): string {
  return TITLES[kind] ?? "Allow this?";
}

/** Read the parameters of the call, of whatever shape they are. */
export function readPermissionInput(parameters: unknown): PermissionInput {
  const given = (typeof parameters === "object" && parameters) || {};
  const { title, kind, message, note, action, command, lasting } = given as Record<string, unknown>;
  return {
    title: text(title) ?? "The agent acts",
    kind: text(kind) ?? "other",
    message: text(message) ?? "An agent asks for permission without details.",
    note: text(note),
    action: text(action),
    command: text(command),
    lasting: (Array.isArray(lasting) ? lasting : []).flatMap((one) => {
      const [id, name] = [text(one?.id), text(one?.name)];
      return id === undefined || name === undefined ? [] : [{ id, name }];
    }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
