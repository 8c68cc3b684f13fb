import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A job that has reported its variables and runs until the test ends it. */
export interface HeldJob {
  readonly variables: ReadonlyMap<string, string>;
  readonly end: () => void;
}

/** Keeps jobs running: each sends its variables to the test, and ends when the test answers. */
export interface HeldJobs {
  /** The commands of such a job; it needs curl and the network. */
  readonly commands: string;
  /** Resolves with the next job that reports. */
  next(): Promise<HeldJob>;
  stop(): Promise<void>;
}

export async function openHeldJobs(): Promise<HeldJobs> {
  const waiting: ((job: HeldJob) => void)[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    waiting.shift()?.({ variables: variablesIn(text), end: () => response.end("go on\n") });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    commands: `env | grep GRANGE_ > variables || true; curl -sS --data-binary @variables http://127.0.0.1:${port}/`,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function variablesIn(text: string): Map<string, string> {
  return new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const at = line.indexOf("=");
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}
