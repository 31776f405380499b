// The editor's boxes at the top of the window: lists to choose from, and lines to type.

import type { Page } from "playwright-core";

const WIDGET = ".quick-input-widget:visible";

/** Choose from the list that is open, which shows only what there is room for. */
export async function pick(page: Page, label: string): Promise<void> {
  await page.locator(`${WIDGET} input:visible`).last().fill(label);
  await page.locator(`${WIDGET} .monaco-list-row`, { hasText: label }).first().click();
}

/** Type into the box with a title; undefined takes what is proposed, which is returned. */
export async function type(page: Page, title: string, text?: string): Promise<string> {
  const box = page.locator(WIDGET, { hasText: title }).locator("input:visible").last();
  await box.waitFor();
  if (text !== undefined) {
    await box.fill(text);
  }
  const value = await box.inputValue();
  await page.keyboard.press("Enter");
  return value;
}
