// The page that draws what the agents know, in a tab of the editor. The page and its events come from the
// program (`lm/inspect`), and so fit each other. While the page can be seen, it gets the newest events.

import * as vscode from "vscode";
import { INSPECTED_EVERY_MS } from "../limits.ts";
import type { Server } from "../program/server.ts";

const VIEW = "vscodelm.knowledge";
const TITLE = "What the Agents Know";

export class Knowledge implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: NodeJS.Timeout | undefined;
  private asking = false;

  constructor(
    private readonly server: Pick<Server, "inspect" | "pid">,
    private readonly log: Pick<vscode.LogOutputChannel, "debug">,
  ) {}

  /** Open the page, or bring it to the front. */
  async show(): Promise<void> {
    if (this.panel !== undefined) {
      this.panel.reveal();
      return;
    }
    const { page } = await this.server.inspect(true);
    if (typeof page !== "string") {
      throw new Error("vscodelm sent no page. Update vscodelm, then try again.");
    }
    this.dispose(); // the command was run twice meanwhile
    const panel = vscode.window.createWebviewPanel(VIEW, TITLE, vscode.ViewColumn.Active, {
      enableScripts: true,
      retainContextWhenHidden: true,
      localResourceRoots: [],
    });
    this.panel = panel;
    panel.onDidDispose(() => {
      if (this.panel === panel) {
        this.panel = undefined;
        clearTimeout(this.timer);
      }
    });
    panel.onDidChangeViewState(() => this.refresh(panel));
    panel.webview.onDidReceiveMessage(() => this.refresh(panel)); // it is ready to draw
    panel.webview.html = page;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  /** Send the newest events while the page can be seen. A page must not start the program. */
  private async refresh(panel: vscode.WebviewPanel): Promise<void> {
    clearTimeout(this.timer);
    if (this.asking || panel !== this.panel || !panel.visible) {
      return;
    }
    this.asking = true;
    try {
      if (this.server.pid !== undefined) {
        const { events, leftOut } = await this.server.inspect(false);
        // Not awaited: a message to a page that is still being loaded may never be delivered.
        panel.webview.postMessage({ type: "events", events, leftOut }).then(undefined, () => {});
      }
    } catch (error) {
      this.log.debug(`the page of the agents' knowledge isn't up to date: ${String(error)}`);
    } finally {
      this.asking = false;
    }
    if (panel === this.panel && panel.visible) {
      this.timer = setTimeout(() => this.refresh(panel), INSPECTED_EVERY_MS);
    }
  }
}
