// `${workspaceFolder}` and its like in settings: an agent's command gets no shell that would fill in.

export interface Variables {
  workspaceFolder: string;
  userHome: string;
  env: Record<string, string | undefined>;
}

const VARIABLE = /\$\{(workspaceFolder|userHome|env:([^}$]*))\}/g;

/** Return a value of the settings with the variables in its texts filled in. */
export function fillIn<T>(value: T, variables: Variables): T {
  if (typeof value === "string") {
    return value.replace(VARIABLE, (_, name: string, variable?: string) => {
      if (variable !== undefined) {
        return variables.env[variable] ?? "";
      }
      return name === "userHome" ? variables.userHome : variables.workspaceFolder;
    }) as T;
  }
  if (Array.isArray(value)) {
    return value.map((item) => fillIn(item, variables)) as T;
  }
  if (typeof value === "object" && value !== null) {
    const filled = Object.entries(value).map(([key, item]) => [key, fillIn(item, variables)]);
    return Object.fromEntries(filled) as T;
  }
  return value;
}
