// The browser's clipboard.

import type { Page } from "playwright-core";

/** Put a picture of one colour on the clipboard. */
export async function copyImage(page: Page, width: number, height: number): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(
    async ([width, height]) => {
      const canvas = new OffscreenCanvas(width as number, height as number);
      const context = canvas.getContext("2d");
      if (context === null) {
        throw new Error("nothing can be drawn");
      }
      context.fillStyle = "teal";
      context.fillRect(0, 0, canvas.width, canvas.height);
      const png = await canvas.convertToBlob({ type: "image/png" });
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
    },
    [width, height],
  );
}
