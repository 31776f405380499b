// Stands before an extension's own code (`extension.cjs`, beside it), whose log it writes into a file,
// too: the editor of the tests keeps none.

const { appendFileSync } = require("node:fs");
const Module = require("node:module");
const vscode = require("vscode");

const window = Object.create(vscode.window, {
  createOutputChannel: {
    value: (...args) => {
      const channel = vscode.window.createOutputChannel(...args);
      return new Proxy(channel, {
        get: (_, name) => {
          const value = channel[name];
          if (typeof value !== "function") {
            return value;
          }
          return (...what) => {
            if (["trace", "debug", "info", "warn", "error"].includes(name)) {
              appendFileSync(process.env.LOG_OUTPUT, `${name} ${what.join(" ")}\n`);
            }
            return value.apply(channel, what);
          };
        },
      });
    },
  },
});
const load = Module._load;
Module._load = (request, ...rest) =>
  request === "vscode" ? { ...vscode, window } : load(request, ...rest);
try {
  module.exports = require("./extension.cjs");
} finally {
  Module._load = load;
}
