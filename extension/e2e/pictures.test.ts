// What a model of an endpoint draws, and asks about its remote tools. The chat shows no image of a model's,
// so it is a file with a link; the first test would tell if that changed.

import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { shoot } from "./screenshots.ts";

/** A red square of 64 by 64 pixels. */
const RED =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsIty/VMZxQi+hcEKLNO+FgEB" +
  "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywKkKwEPXi+AaQAAAABJRU5ErkJggg==";

interface Item {
  type: string;
  [key: string]: unknown;
}

/** The input of each request about a remote tool. */
const heard: Item[][] = [];
let server: Server;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answer(body).map(event).join(""));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const open_responses = { baseUrl: `http://127.0.0.1:${port}/v1`, model: "draws" };
  editor = await Editor.start({
    name: "pictures",
    settings: {
      "vscodelm.agents": { endpoint: { name: "Endpoint", agent: { open_responses } } },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
  await chat.choose("Endpoint");
});

afterEach(({ task }) => shoot(page, "pictures", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  server?.close();
});

test("an image that a model makes is a file, to which the chat has a link", async () => {
  const said = await chat.ask("draw a red square");
  expect(said).toContain("Here it is.");
  expect(said).toContain("image/png");
  const link = page.locator(`${VIEW} .interactive-response a`, { hasText: "Image" }).last();
  const href = (await link.getAttribute("data-href")) ?? "";
  expect(href).toMatch(/^file:.*\.png$/);
  expect(existsSync(fileURLToPath(href))).toBe(true);
  // The copy that stands in the answer, because the image is small: its part of the answer isn't shown.
  const shown = page.locator(`${VIEW} .interactive-response .rendered-markdown img`);
  expect(await shown.count()).toBe(1);
});

test("a remote tool is asked about, and the server is told the answer", async () => {
  await chat.newChat();
  await chat.send("close the issue");
  await chat.question.waitFor();
  expect(await chat.question.textContent()).toContain("close_issue");
  await shoot(page, "pictures", "question");
  await chat.question.locator(".monaco-button", { hasText: "Allow Once" }).click();
  expect(await chat.finished()).toContain("It is closed.");
  expect(heard.at(-1)?.at(-1)).toEqual({
    type: "mcp_approval_response",
    approval_request_id: "mcpr_1",
    approve: true,
  });
});

function answer(body: string): Item[] {
  if (body.includes("mcp_approval_response")) {
    heard.push(JSON.parse(body).input);
    return whole([said("It is closed.")]);
  }
  if (body.includes("close the issue")) {
    const asked = { server_label: "github", name: "close_issue", arguments: '{"number":7}' };
    return whole([{ type: "mcp_approval_request", id: "mcpr_1", ...asked }]);
  }
  if (body.includes("draw a red square")) {
    const drawn = { type: "image_generation_call", id: "ig_1", status: "completed", result: RED };
    return whole([drawn, said("Here it is.")]);
  }
  return whole([said("Yes, indeed.")]);
}

function said(text: string): Item {
  return {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text }],
  };
}

function whole(output: Item[]): Item[] {
  const done = output.map((item, output_index) => ({
    type: "response.output_item.done",
    output_index,
    item,
  }));
  return [
    ...done,
    { type: "response.completed", response: { id: "resp_1", status: "completed", output } },
  ];
}

function event(item: Item): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}
