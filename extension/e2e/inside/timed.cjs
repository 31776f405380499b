// Stands before an extension's own code (`extension.cjs`, beside it), whose providers it has timed.

const Module = require("node:module");
const vscode = require("vscode");
const { timed } = require("./stopwatch.cjs");

const lm = Object.create(vscode.lm, {
  registerLanguageModelChatProvider: {
    value: (vendor, provider) =>
      vscode.lm.registerLanguageModelChatProvider(vendor, timed(vendor, provider)),
  },
});
const load = Module._load;
Module._load = (request, ...rest) =>
  request === "vscode" ? { ...vscode, lm } : load(request, ...rest);
try {
  module.exports = require("./extension.cjs");
} finally {
  Module._load = load;
}
