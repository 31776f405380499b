// An extension like any other that uses language models. It does what a consumer may do, once, and
// writes what it got: `library.test.ts` judges it.

const vscode = require("vscode");
const { writeFileSync } = require("node:fs");

const { LanguageModelChatMessage: Message } = vscode;
const never = new vscode.CancellationTokenSource().token;
// A picture of one pixel. Editors reject what they can't read.
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

exports.activate = async () => {
  const results = {};
  try {
    results.models = await listed(["eliza", "scripted", "missing", "locked", "endpoint"]);
    for (const [name, scenario] of Object.entries(scenarios)) {
      results[name] = await scenario().catch((error) => ({ failed: describe(error) }));
    }
  } catch (error) {
    results.failed = describe(error);
  }
  writeFileSync(process.env.CONSUMER_OUTPUT, JSON.stringify(results, null, 2));
};

/** Wait until the models are there: an editor that has just started asks its providers first. */
async function listed(ids) {
  for (let tries = 0; tries < 100; tries++) {
    const models = await vscode.lm.selectChatModels({ vendor: "vscodelm" });
    if (ids.every((id) => models.some((model) => model.id === id))) {
      return models.map(({ id, name, family, version, maxInputTokens }) => ({
        id,
        name,
        family,
        version,
        maxInputTokens,
      }));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the models aren't listed");
}

async function model(id) {
  const [found] = await vscode.lm.selectChatModels({ vendor: "vscodelm", id });
  return found;
}

async function ask(id, messages, options = {}, token = never) {
  const chosen = await model(id);
  const response = await chosen.sendRequest(messages, options, token);
  const got = { text: "", chunks: 0, calls: [], thinking: "", data: [] };
  for await (const part of response.stream) {
    if (part instanceof vscode.LanguageModelTextPart) {
      got.text += part.value;
      got.chunks++;
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      got.calls.push({ callId: part.callId, name: part.name, input: part.input });
    } else if (part instanceof vscode.LanguageModelDataPart) {
      got.data.push({ mimeType: part.mimeType, text: Buffer.from(part.data).toString() });
    } else if (
      vscode.LanguageModelThinkingPart &&
      part instanceof vscode.LanguageModelThinkingPart
    ) {
      got.thinking += [part.value].flat().join("");
    }
  }
  return got;
}

function describe(error) {
  return {
    name: error?.name,
    code: error?.code,
    message: error?.message,
    isLanguageModelError: error instanceof vscode.LanguageModelError,
  };
}

const failure = (id, text) =>
  ask(id, [Message.User(text)]).then(
    (got) => ({ got }),
    (error) => describe(error),
  );

const tools = ["alpha", "beta"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
}));

/** Have two tools called at once, and return what came of them, the last one first. */
async function twoTools(id, said) {
  const asked = Message.User(said);
  const first = await ask(id, [asked], { tools });
  const calls = first.calls.map(
    ({ callId, name, input }) => new vscode.LanguageModelToolCallPart(callId, name, input),
  );
  const results = first.calls.map(
    ({ callId, name }) =>
      new vscode.LanguageModelToolResultPart(callId, [
        new vscode.LanguageModelTextPart(`the result of ${name}`),
      ]),
  );
  const history = [
    asked,
    Message.Assistant([new vscode.LanguageModelTextPart(first.text), ...calls]),
    // The other way round: results are told apart by their ids.
    ...results.reverse().map((result) => Message.User([result])),
  ];
  const second = await ask(id, history, { tools });
  return { first, second };
}

async function twoTurns(id, one, other) {
  const said = [Message.User(one)];
  const first = await ask(id, said);
  const second = await ask(id, [...said, Message.Assistant(first.text), Message.User(other)]);
  return { first, second };
}

function image(id, text) {
  const picture = vscode.LanguageModelDataPart.image(PIXEL, "image/png");
  return ask(id, [Message.User([new vscode.LanguageModelTextPart(text), picture])]);
}

/** Cancel an answer that never ends, and go on. */
async function cancel(id, endless, next) {
  const source = new vscode.CancellationTokenSource();
  const chosen = await model(id);
  const response = await chosen.sendRequest([Message.User(endless)], {}, source.token);
  let text = "";
  try {
    for await (const part of response.text) {
      text += part;
      source.cancel();
    }
  } catch (error) {
    // Whether the editor throws is its own affair.
    text += error.name === "Canceled" ? "" : ` ${error}`;
  }
  const history = [Message.User(endless), Message.Assistant(text), Message.User(next)];
  return { text, after: await ask(id, history) };
}

const scenarios = {
  stream: () => ask("eliza", [Message.User("!long 200")]),
  thinking: () => ask("eliza", [Message.User("!think")]),
  twoTools: () => twoTools("eliza", '!tool alpha {"path": "a.txt"}\n!tool beta {"path": "b.txt"}'),
  memory: () => twoTurns("scripted", "remember one", "memory"),
  image: () => image("scripted", "what is this?"),
  cancel: () => cancel("scripted", "hang", "and now?"),
  notFound: () => failure("missing", "hello"),
  noPermissions: () => failure("locked", "hello"),
  blocked: () => failure("scripted", "quota"),
  agentFailed: () => failure("eliza", "!error"),

  endpointTools: () =>
    twoTools("endpoint", 'use alpha {"path": "a.txt"}\nuse beta {"path": "b.txt"}'),
  endpointMemory: () => twoTurns("endpoint", "remember one", "what do you remember?"),
  endpointImage: () => image("endpoint", "look"),
  endpointCancel: () => cancel("endpoint", "slow", "what do you remember?"),
  endpointBlocked: () => failure("endpoint", "quota"),

  async tokens() {
    const chosen = await model("eliza");
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);
    return {
      text: await chosen.countTokens(text),
      message: await chosen.countTokens(Message.User(text)),
    };
  },
};
