// A server of files for installations: the pages and files of a package index, and this machine's Python
// as an archive that uv takes for one of its own.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PYTHON, REPOSITORY } from "./places.ts";

const run = promisify(execFile);

export class FileServer {
  /** What is served, by its path. A path of a page is without the slash at its end. */
  readonly files = new Map<string, Buffer>();
  /** Paths that are answered with a piece, and never to the end. */
  readonly hanging = new Set<string>();
  /** Those of them for whose rest somebody waits now. */
  readonly awaited = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FileServer> {
    const server = createServer();
    const files = new FileServer(server);
    server.on("request", ({ url = "" }, response) => {
      const content = files.files.get(url.endsWith("/") ? url.slice(0, -1) : url);
      const type = url.endsWith("/") ? "text/html" : "application/octet-stream";
      response.statusCode = content === undefined ? 404 : 200;
      response.setHeader("content-type", type);
      response.setHeader("content-length", content?.length ?? 0);
      if (files.hanging.has(url)) {
        response.write(content?.subarray(0, 1000), () => files.awaited.add(url));
        response.on("close", () => files.awaited.delete(url));
      } else {
        response.end(content);
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return files;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Return the address of uv's list of Pythons, which has only the one that runs the tests. */
  async servePython(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "vscodelm-python-"));
    try {
      const pack = ["-m", "tests.fakes.python_build", folder, this.address];
      await run(PYTHON, pack, { cwd: REPOSITORY });
      for (const name of ["python.tar.gz", "downloads.json"]) {
        this.files.set(`/${name}`, await readFile(join(folder, name)));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
    return `${this.address}/downloads.json`;
  }

  /** End all that is being answered. */
  cut(): void {
    this.server.closeAllConnections();
  }

  stop(): void {
    this.cut();
    this.server.close();
  }
}
