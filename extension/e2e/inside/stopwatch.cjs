// Measures a provider of models where the editor calls it: how long an answer takes to begin, and what
// is spent on counting tokens before it is asked for. All else between Enter and the first text is the
// editor's own, whoever answers.

const { appendFileSync } = require("node:fs");
const { LanguageModelTextPart } = require("vscode");

/** Return a provider that does the same, and writes a line for each answer in a chat. */
exports.timed = (vendor, provider) => {
  let counts = 0;
  let counting = 0;
  return {
    get onDidChangeLanguageModelChatInformation() {
      return provider.onDidChangeLanguageModelChatInformation;
    },
    provideLanguageModelChatInformation: (...args) =>
      provider.provideLanguageModelChatInformation(...args),
    provideTokenCount(...args) {
      const began = performance.now();
      const count = provider.provideTokenCount(...args);
      counting += performance.now() - began;
      counts++;
      return count;
    },
    provideLanguageModelChatResponse(model, messages, options, progress, token) {
      const began = performance.now();
      const spent = { vendor, counts, counting };
      counts = 0;
      counting = 0;
      // Who has no tools isn't a chat: editors ask for titles, too.
      let isWaiting = (options.tools ?? []).length > 0;
      const watched = {
        report(part) {
          if (isWaiting && part instanceof LanguageModelTextPart) {
            isWaiting = false;
            const line = { ...spent, answering: performance.now() - began };
            appendFileSync(process.env.STOPWATCH_OUTPUT, `${JSON.stringify(line)}\n`);
          }
          progress.report(part);
        },
      };
      return provider.provideLanguageModelChatResponse(model, messages, options, watched, token);
    },
  };
};
