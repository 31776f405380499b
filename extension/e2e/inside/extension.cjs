// A model that answers inside the extension: what an answer costs when nothing of ours takes part.

const vscode = require("vscode");

exports.activate = (context) => {
  const model = {
    id: "inside",
    name: "Inside",
    family: "inside",
    version: "1",
    maxInputTokens: 1_000_000,
    maxOutputTokens: 64_000,
    capabilities: { toolCalling: true, imageInput: false },
  };
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider("inside", {
      provideLanguageModelChatInformation: () => [model],
      async provideLanguageModelChatResponse(_model, _messages, _options, progress) {
        for (const word of ["How ", "do ", "you ", "do. ", "What ", "brings ", "you ", "here?"]) {
          progress.report(new vscode.LanguageModelTextPart(word));
        }
      },
      provideTokenCount: async (_model, text) =>
        typeof text === "string" ? Math.ceil(text.length / 4) : 10,
    }),
  );
};
