import { openBrowser, openWindow } from "./browser.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";

const t0 = Date.now();
const log = (...a: unknown[]) => console.log(((Date.now() - t0) / 1000).toFixed(1), ...a);
const editor = await Editor.start({ name: "explore" });
log("server", editor.port);
const context = await openBrowser(editor);
try {
  const page = await openWindow(context, editor);
  log("workbench");
  const S = ".interactive-session ";
  await page.locator(`${S}.chat-input-container .monaco-editor`).first().waitFor();
  log("input");
  await page
    .waitForFunction(
      () =>
        /Eliza/.test(
          document.querySelector(".interactive-session .chat-input-toolbars")?.textContent ?? "",
        ),
      null,
      { timeout: 60000 },
    )
    .catch(() => log("no Eliza"));
  log("picker", await page.locator(`${S}.chat-input-toolbars`).first().textContent());
  await page.locator(`${S}.chat-input-container .monaco-editor`).first().click();
  await page.keyboard.type("Hello there");
  await page.keyboard.press("Enter");
  await page
    .waitForFunction(
      () =>
        /How|What|I|Please|Tell/.test(
          document.querySelector(".interactive-session .interactive-response")?.textContent ?? "",
        ),
      null,
      { timeout: 60000 },
    )
    .catch(() => log("no answer"));
  await page.waitForTimeout(2000);
  await page.screenshot({ path: `${OUTPUT}/explore/1.png` });
  log(await page.locator(`${S}.interactive-response`).last().textContent());
  const toolbars = await page.locator(`${S}.chat-input-toolbars`).first().innerHTML();
  log(toolbars.slice(0, 3000));
} finally {
  await context.close();
  await editor.stop();
}
log("closed");
