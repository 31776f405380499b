// `vscodelm doctor` for a model of the settings. Its report is a document that stays open, with a button
// for each fix above its verdict. Each examination has files and a document of its own.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import type { ConfiguredModel } from "../agents/agents.ts";
import { messageOf } from "../chat/failures.ts";
import type { Models } from "../chat/models.ts";
import type { Told } from "../mcp/servers.ts";
import { runProgram } from "../program/command.ts";
import type { Launch } from "../program/start.ts";
import { harnessLine } from "../program/statistics.ts";
import type { Stats } from "../program/wire.ts";
import { reporting } from "../reporting.ts";
import type { Fixer } from "./fixes.ts";
import { type Report, reportOf } from "./report.ts";

const SCHEME = "vscodelm-doctor";
/** Internal, as the name says: an editor lists no command that begins so. */
const FIX = "_vscodelm.fix";

interface DoctorPlaces {
  models: Models;
  launch(): Promise<Launch>;
  stats(): Promise<Stats>;
  /** Return the user's MCP servers. */
  mcpServers(): Promise<Told[]>;
  storage: string;
  fixer: Fixer;
  log: Pick<vscode.LogOutputChannel, "error" | "show">;
}

const GONE = "A report is kept only while it is open. Run the doctor again.\n";

/** The reports of a window, kept while their documents are open. */
export class Doctor implements vscode.Disposable {
  private readonly reports = new Map<string, { id: string; report: Report }>();
  private readonly owned: vscode.Disposable;
  private made = 0;

  constructor(private readonly places: DoctorPlaces) {
    const closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      this.reports.delete(uri.toString());
    });
    this.owned = vscode.Disposable.from(
      closed,
      vscode.commands.registerCommand(FIX, (fix: () => unknown) => fix()),
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        provideTextDocumentContent: (uri) => this.reports.get(uri.toString())?.report.text ?? GONE,
      }),
      vscode.languages.registerCodeLensProvider(
        { scheme: SCHEME },
        { provideCodeLenses: ({ uri }) => this.lenses(uri.toString()) },
      ),
    );
  }

  dispose(): void {
    this.owned.dispose();
  }

  /** Ask which agent, and examine it. */
  async run(): Promise<void> {
    const { models } = this.places;
    const id = await vscode.window.showQuickPick(
      [...models.list().map((model) => model.id), ...Object.keys(models.faulty)],
      { title: "Choose the agent to examine" },
    );
    if (id !== undefined) {
      await this.examine(id);
    }
  }

  /** Return the report on an agent; undefined if the user cancelled. */
  async reportOn(id: string): Promise<Report | undefined> {
    const fault = this.places.models.faulty[id];
    if (fault !== undefined) {
      return reportOf(id, fault);
    }
    const launch = await this.places.launch();
    const printed = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `The doctor examines ${id}`,
        cancellable: true,
      },
      (_, token) => this.printed(launch, id, token),
    );
    return printed === undefined
      ? undefined
      : reportOf(id, printed, await this.harness(), await this.places.mcpServers());
  }

  private async examine(id: string): Promise<void> {
    const report = await this.reportOn(id);
    if (report === undefined) {
      return;
    }
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${++this.made}/${nameOf(id)}.md` });
    this.reports.set(uri.toString(), { id, report });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: false });
    if (report.fixes.length > 0) {
      const { fixer, log } = this.places;
      const offer = () => fixer.offer(report.verdict, report.fixes, id, this.retry(id));
      void reporting(log, FIX, offer)(); // the message may stay for as long as it likes
    }
  }

  /** Say which harness asked last; undefined if the program can't tell. */
  private async harness(): Promise<string | undefined> {
    try {
      return harnessLine((await this.places.stats()).newestRequest);
    } catch {
      return undefined; // it doesn't run, and the doctor has said why
    }
  }

  /** Return the doctor's output, or its complaint; undefined if the user cancelled. */
  private async printed(
    launch: Launch,
    id: string,
    token: vscode.CancellationToken,
  ): Promise<string | undefined> {
    await mkdir(this.places.storage, { recursive: true });
    const folder = await mkdtemp(join(this.places.storage, "doctor-"));
    const stop = new AbortController();
    const watch = token.onCancellationRequested(() => stop.abort());
    try {
      const configured = this.places.models.configuredModel(id);
      const config: string[] = [];
      if (configured) {
        const file = join(folder, "doctor.json");
        await writeFile(file, modelsFile(configured), { mode: 0o600 });
        config.push("--config", file);
      }
      return await runProgram(launch, ["doctor", "--json", ...config, id], {
        signal: stop.signal,
        timeout: 0, // each of its steps has a limit
        takesFailure: true,
      });
    } catch (error) {
      return token.isCancellationRequested ? undefined : messageOf(error);
    } finally {
      watch.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  }

  private retry(id: string) {
    const words = "Examine the agent again to see whether it can be used now.";
    return { words, button: "Examine Again", run: () => this.examine(id) };
  }

  private lenses(uri: string): vscode.CodeLens[] {
    const kept = this.reports.get(uri);
    if (kept === undefined) {
      return [];
    }
    const { id, report } = kept;
    const retry = this.retry(id);
    const { fixer, log } = this.places;
    const all = [
      ...report.fixes.map((fix) => ({ title: fix.title, run: () => fixer.apply(fix, id, retry) })),
      { title: retry.button, run: retry.run },
    ];
    const at = new vscode.Range(report.fixesAt, 0, report.fixesAt, 0);
    return all.map(
      ({ title, run }) =>
        new vscode.CodeLens(at, { title, command: FIX, arguments: [reporting(log, title, run)] }),
    );
  }
}

/** Return an id as the name of a document, which can't have every character. */
function nameOf(id: string): string {
  return `Doctor's Report on ${id.replaceAll(/[^\w. -]/g, "_")}`;
}

/** Return a model as the program's own file has it, in JSON. */
function modelsFile({ id, agent, settings }: ConfiguredModel): string {
  return JSON.stringify({ models: [{ id, agent, settings }] });
}
