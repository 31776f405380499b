// The official JavaScript client in every way that counts: node FILE URL
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(`${process.env.VSCODELM_CLIENTS}/package.json`);
const { default: OpenAI } = await import(pathToFileURL(resolve("openai")));

const client = new OpenAI({
  baseURL: process.argv[2],
  apiKey: process.env.VSCODELM_TOKEN,
  maxRetries: 0,
});
const weather = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { place: { type: "string" } } },
  strict: false,
};
const question = "What is the weather in Rome?";

const first = await client.responses.create({ model: "agent", input: "Hello!" });
assert.equal(first.output_text, "Hello from the agent.");

let text = "";
for await (const event of await client.responses.create({
  model: "agent",
  input: "Hello!",
  stream: true,
})) {
  if (event.type === "response.output_text.delta") text += event.delta;
}
assert.equal(text, "Hello from the agent.");

const second = await client.responses.create({
  model: "agent",
  input: "What do you remember?",
  previous_response_id: first.id,
});
assert.match(second.output_text, /Hello!/);

const asked = await client.responses.create({ model: "agent", input: question, tools: [weather] });
const call = asked.output.find((item) => item.type === "function_call");
const answered = await client.responses.create({
  model: "agent",
  input: [{ type: "function_call_output", call_id: call.call_id, output: "It is hot." }],
  previous_response_id: asked.id,
  tools: [weather],
});
assert.match(answered.output_text, /It is hot\./);

const hanging = await client.responses.create({
  model: "agent",
  input: "Wait for ever.",
  stream: true,
});
let last;
for await (const event of hanging) {
  if (event.type === "response.output_text.delta") hanging.controller.abort();
  last = event;
}
assert.equal(last.type, "response.output_text.delta");

const messages = [{ role: "user", content: question }];
const tools = [{ type: "function", function: { name: "get_weather" } }];
const whole = await client.chat.completions.create({ model: "agent", messages, tools });
const { message } = whole.choices[0];
messages.push(message, {
  role: "tool",
  tool_call_id: message.tool_calls[0].id,
  content: "It is hot.",
});
text = "";
for await (const chunk of await client.chat.completions.create({
  model: "agent",
  messages,
  tools,
  stream: true,
})) {
  text += chunk.choices[0]?.delta.content ?? "";
}
assert.match(text, /It is hot\./);

await assert.rejects(
  client.responses.create({ model: "nobody", input: "x" }),
  (error) => error.status === 404 && error.code === "model_not_found",
);
console.log("all is well");
