// Which browser the tests use, and what to do where there is none.

/** Where systems put Chromium, or one that is as good. */
export const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Return the one that CHROMIUM names, else the first that exists; undefined if none does. */
export function findChromium(
  exists: (file: string) => boolean,
  named: string | undefined,
): string | undefined {
  return named ? (exists(named) ? named : undefined) : PLACES.find(exists);
}

/** Return what whoever runs the tests must do themselves, and why. */
export function adviceFor(reason: string): string {
  return [
    `The tests in a real editor need Chromium, and ${reason}.`,
    "Install it from your system's packages (on Debian: apt-get install chromium; where that package is",
    "only a snap, as on Ubuntu: Google's package of Chrome does as well),",
    "or name one that you have: make test-vscode CHROMIUM=/path/to/chromium",
  ].join("\n");
}
