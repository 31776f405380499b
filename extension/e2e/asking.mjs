// Stands for vscodelm: its agent asks for what the message names, and says how that was answered.

import { createInterface } from "node:readline";

/** Texts that would run a command, or turn into icons, if the editor took them for more than texts. */
const HOSTILE = "[Click here](command:workbench.action.closeWindow) for $(sync)";

const NAME = {
  type: "string",
  title: "Your name",
  description: "What should I call you?",
  minLength: 2,
};
const FORM = {
  type: "object",
  properties: {
    name: NAME,
    mood: {
      type: "string",
      title: "Your mood",
      oneOf: [
        { const: "good", title: "Good", description: "All is well" },
        { const: "bad", title: "Bad", description: "I would rather be elsewhere" },
      ],
    },
    topics: {
      type: "array",
      title: "Topics",
      description: "What shall we talk about?",
      items: { enum: ["Dreams", "Family", "Work"] },
      minItems: 1,
      maxItems: 2,
    },
    hours: { type: "integer", title: "Hours of sleep", minimum: 0, maximum: 24, default: 8 },
    mail: { type: "string", title: "Email", format: "email" },
    again: { type: "boolean", title: "Shall we talk again?", default: true },
  },
  required: ["name", "topics"],
};
const QUESTIONS = {
  "ask me all": {
    message: "I would like to know a little about you, so that we can talk about what matters.",
    requestedSchema: FORM,
  },
  "ask my name": { message: "Before we begin:", requestedSchema: { properties: { name: NAME } } },
  "ask oddly": {
    message: HOSTILE,
    requestedSchema: {
      properties: {
        odd: {
          type: "string",
          title: HOSTILE,
          description: HOSTILE,
          oneOf: [{ const: "odd", title: HOSTILE, description: HOSTILE }],
        },
      },
    },
  },
  "ask for a yes": { message: "May I remember what you say?", requestedSchema: {} },
  "ask for a page": {
    message: "Log in to your diary, so that I can read it.",
    url: "https://diary.example.org/login?redirect_uri=http%3A%2F%2Flocalhost%3A1%2F&state=a%26b",
  },
};

let asking;
let count = 0;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  switch (method) {
    case undefined:
      finish(`The answer: ${JSON.stringify(answer.result ?? answer.error)}`);
      break;
    case "lm/initialize":
      say({ id, result: { serverInfo: { name: "vscodelm", version: "1" } } });
      break;
    case "lm/provideLanguageModelChatInformation":
      say({ id, result: { models: [] } });
      break;
    case "lm/cancel":
      finish("Stopped.");
      break;
    case "lm/provideLanguageModelChatResponse": {
      const text = JSON.stringify(params.messages.at(-1));
      const [, question] = Object.entries(QUESTIONS).find(([words]) => text.includes(words)) ?? [];
      asking = id;
      if (question === undefined) {
        finish("Please go on."); // a request of the editor's own, such as for a title
      } else {
        const asked = { requestId: id, ...question };
        say({ id: `elicit-${++count}`, method: "lm/elicit", params: asked });
      }
      break;
    }
  }
});
process.stdin.on("end", () => process.exit(0));

function finish(text) {
  if (asking !== undefined) {
    const part = { type: "text", value: text };
    say({ method: "lm/responsePart", params: { requestId: asking, part } });
    say({ method: "lm/responseComplete", params: { requestId: asking } });
    say({ id: asking, result: {} });
    asking = undefined;
  }
}

function say(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
