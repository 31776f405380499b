// The AI SDK with its provider of OpenAI's: node FILE URL
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(`${process.env.VSCODELM_CLIENTS}/package.json`);
const load = (name) => import(pathToFileURL(resolve(name)));
const { generateText, streamText, tool, stepCountIs } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { z } = await load("zod/v4");

const openai = createOpenAI({
  baseURL: process.argv[2],
  apiKey: process.env.VSCODELM_TOKEN,
});
const tools = {
  get_weather: tool({
    description: "The weather.",
    inputSchema: z.object({ place: z.string() }),
    execute: async ({ place }) => `It is hot in ${place}.`,
  }),
};

for (const model of [openai.responses("agent"), openai.chat("agent")]) {
  const said = await generateText({ model, prompt: "Hello!", maxRetries: 0 });
  assert.equal(said.text, "Hello from the agent.");

  let streamed = "";
  const stream = streamText({ model, prompt: "Hello!", maxRetries: 0 });
  for await (const delta of stream.textStream) streamed += delta;
  assert.equal(streamed, "Hello from the agent.");

  const used = await generateText({
    model,
    tools,
    prompt: "What is the weather in Rome?",
    stopWhen: stepCountIs(4),
    maxRetries: 0,
  });
  assert.equal(used.steps.length, 2);
  assert.match(used.text, /It is hot in Rome\./);
}

const model = openai.responses("agent");
const first = await generateText({ model, prompt: "Hello!", maxRetries: 0 });
const id = first.providerMetadata.openai.responseId;
const second = await generateText({
  model,
  prompt: "What do you remember?",
  providerOptions: { openai: { previousResponseId: id } },
  maxRetries: 0,
});
assert.match(second.text, /Hello!/);

// The agent's own calls are items of a type that it doesn't know.
const looked = await generateText({ model, prompt: "Look around.", maxRetries: 0 });
assert.match(looked.text, /There is a file\./);
let text = "";
const looking = streamText({ model, prompt: "Look around.", maxRetries: 0 });
for await (const delta of looking.textStream) text += delta;
assert.match(text, /There is a file\./);
console.log("all is well");
