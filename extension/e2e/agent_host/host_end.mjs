// The Agent Host's end of what joins it with the window (wire.ts): a window that connects is registered, as
// the desktop's window is, and then asked for answers.

import { createRequire } from "node:module";

/** Serve windows on the port that MODELS_PORT names. A failure ends the host: the tests see it. */
export async function serve(registry) {
  const { WebSocketServer } = createRequire(process.argv[1])("ws");
  const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.env.MODELS_PORT) });
  let windows = 0;
  server.on("connection", (socket) => join(registry, socket, `window-${++windows}`));
}

function join(registry, socket, id) {
  const answers = new Map();
  const listeners = new Set();
  let models;
  let asked = 0;
  const window = {
    chat: (request) =>
      new Promise((resolve, reject) => {
        answers.set(++asked, { resolve, reject });
        socket.send(JSON.stringify({ id: asked, request }));
      }),
    onDidChangeModels(listener) {
      listeners.add(listener);
      if (models !== undefined) {
        listener(models);
      }
      return { dispose: () => listeners.delete(listener) };
    },
  };
  const registration = registry.register(id, window);
  socket.on("message", (text) => {
    const message = JSON.parse(text);
    if (message.models !== undefined) {
      models = message.models;
      for (const listener of listeners) {
        listener(models);
      }
      return;
    }
    const { resolve, reject } = answers.get(message.id);
    answers.delete(message.id);
    if (message.error === undefined) {
      resolve(message.answer);
    } else {
      reject(new Error(message.error));
    }
  });
  socket.on("close", () => {
    registration.dispose();
    for (const { reject } of answers.values()) {
      reject(new Error("the window has gone"));
    }
  });
}
