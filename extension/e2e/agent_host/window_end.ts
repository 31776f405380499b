// The window's end of what joins it with the Agent Host (wire.ts). It runs in the page.

interface Handler {
  chat(request: unknown, token: unknown): Promise<unknown>;
  listModels(token: unknown): Promise<unknown[]>;
  onDidChangeModels(listener: () => void): { dispose(): void };
}

/** What is on the page: the first is called by the window, the second is for the tests. */
interface Page {
  agentHostModels?: (handler: Handler) => void;
  offeredModels?: number;
}

/** Connect the window's handler with the host's port as soon as the window has made it, and again
 * whenever the host was gone. The desktop's channel gives it a token that is never cancelled, too. */
export function offerModels(port: number): void {
  const page = globalThis as Page;
  const never = {
    isCancellationRequested: false,
    onCancellationRequested: () => ({ dispose: () => {} }),
  };
  const connect = (handler: Handler) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    const say = (message: object) => {
      if (socket.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify(message));
      }
    };
    const offer = async () => {
      const models = await handler.listModels(never);
      say({ models });
      page.offeredModels = models.length;
    };
    let listening: { dispose(): void } | undefined;
    socket.onopen = () => {
      listening = handler.onDidChangeModels(offer);
      void offer();
    };
    socket.onclose = () => {
      listening?.dispose();
      setTimeout(connect, 1_000, handler);
    };
    socket.onmessage = async ({ data }) => {
      const { id, request } = JSON.parse(data);
      try {
        say({ id, answer: await handler.chat(request, never) });
      } catch (error) {
        say({ id, error: String(error) });
      }
    };
  };
  page.agentHostModels = connect;
}
