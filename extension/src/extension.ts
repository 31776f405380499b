// What VS Code calls: everything else is put together here.

import type { ExtensionContext } from "vscode";

export function activate(_context: ExtensionContext): void {}
