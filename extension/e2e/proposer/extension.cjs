// An extension that declares proposed APIs and tries to use them, as one of the Marketplace could. It
// writes what came of each.

const vscode = require("vscode");
const { writeFileSync } = require("node:fs");

exports.activate = async () => {
  const [eliza] = await listed();
  const uses = {
    // The extension's own process refuses these ...
    chatParticipantPrivate: () => vscode.chat.createDynamicChatParticipant("p", {}, () => ({})),
    embeddings: () => vscode.lm.computeEmbeddings("none", "text"),
    languageModelSystem: () => eliza.sendRequest([{ role: 3, content: "Be brief." }]),
  };
  const results = { model: eliza?.id };
  for (const [proposal, use] of Object.entries(uses)) {
    results[proposal] = await Promise.resolve()
      .then(use)
      .then(
        () => "granted",
        (error) => error.message,
      );
  }
  // ... and the window this one.
  results.tools = vscode.lm.tools
    .map(({ name }) => name)
    .filter((name) => ["vscode_proposed", "proposer_tool"].includes(name));
  writeFileSync(process.env.PROPOSER_OUTPUT, JSON.stringify(results));
};

/** Wait for our models: an editor that has just started asks its providers first. */
async function listed() {
  for (let tries = 0; tries < 300; tries++) {
    const models = await vscode.lm.selectChatModels({ vendor: "vscodelm", id: "eliza" });
    if (models.length > 0) {
      return models;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return [];
}
