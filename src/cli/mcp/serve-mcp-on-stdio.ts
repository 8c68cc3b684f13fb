import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ApiClient } from "../api/api-client.ts";
import { mcpServer } from "./mcp-server.ts";

interface StdioOptions {
  readonly version: string;
  /** The id of a request that was answered before: the SDK handles it too, and its answer is not sent. */
  readonly answered: string | number | undefined;
  /** Resolves when the client has closed stdin, or a signal stops the process. */
  readonly stopped: Promise<unknown>;
}

/** Serves MCP on stdin and stdout. */
export async function serveMcpOnStdio(
  api: ApiClient,
  { version, answered, stopped }: StdioOptions,
): Promise<void> {
  const wire = new StdioServerTransport();
  const send = wire.send.bind(wire);
  let unsent = answered;
  wire.send = async (message) => {
    const isAnswered = unsent !== undefined && !("method" in message) && message.id === unsent;
    if (!isAnswered) return send(message);
    unsent = undefined;
  };
  const serving = serveStdio(() => mcpServer(api, version), { transport: wire });
  await stopped;
  await serving.close();
}
