import type { Readable } from "node:stream";
import { mcpInstructions, mcpServerName } from "./server-identity.ts";

/** The revisions of MCP with `initialize` that the SDK supports. */
const revisions: ReadonlySet<unknown> = new Set([
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
]);

interface EarlyAnswer {
  /** The id of the answered request. */
  readonly id: string | number;
  readonly result: {
    readonly protocolVersion: string;
    readonly capabilities: object;
    readonly serverInfo: { readonly name: string; readonly version: string };
    readonly instructions: string;
  };
}

/**
 * Returns the answer to a client's `initialize`, the same as that of the SDK, which takes longer to load than everything
 * else. Returns undefined for a message that the SDK should judge: another method, another revision, a wrong shape.
 */
export function earlyAnswer(line: string, version: string): EarlyAnswer | undefined {
  const message = objectOf(parsedJson(line));
  const params = objectOf(message?.["params"]);
  const client = objectOf(params?.["clientInfo"]);
  const id = message?.["id"];
  const protocolVersion = params?.["protocolVersion"];
  const isInitialize =
    message?.["jsonrpc"] === "2.0" &&
    message["method"] === "initialize" &&
    revisions.has(protocolVersion) &&
    objectOf(params?.["capabilities"]) !== undefined &&
    typeof client?.["name"] === "string" &&
    typeof client["version"] === "string" &&
    // A later revision names itself here.
    params?.["_meta"] === undefined;
  if (!isInitialize || typeof protocolVersion !== "string") return undefined;
  if (typeof id !== "string" && !Number.isInteger(id)) return undefined;
  return {
    id: id as string | number,
    result: {
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: mcpServerName, version },
      instructions: mcpInstructions,
    },
  };
}

/** A longer first message is not `initialize`. In bytes. */
const longestFirstLine = 64 * 1_024;

/**
 * Returns the first line of a stream, and leaves all bytes in the stream. Returns undefined when the stream ends without
 * a line, when the line is too long, and when `stopped` resolves.
 */
export async function firstLineOf(
  stream: Readable,
  stopped: Promise<unknown>,
): Promise<string | undefined> {
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  let seen = Buffer.alloc(0);
  let end = -1;
  while (end === -1 && seen.length <= longestFirstLine) {
    const chunk = stream.read() as Buffer | null;
    if (chunk !== null) {
      seen = Buffer.concat([seen, chunk]);
      end = seen.indexOf("\n");
    } else if (isStopped || stream.readableEnded || stream.destroyed) return undefined;
    else await Promise.race([readableOrEnd(stream), stopped]);
  }
  stream.unshift(seen);
  return end === -1 ? undefined : seen.subarray(0, end).toString();
}

function readableOrEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ["readable", "end", "close", "error"];
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
