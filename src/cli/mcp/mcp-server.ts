import { type CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { explainFailure } from "../explain-failure.ts";
import { paintFor } from "../terminal/paint.ts";
import { buildTools } from "./build-tools.ts";
import { cacheTools } from "./cache-tools.ts";
import { changeTools } from "./change-tools.ts";
import { farmTools } from "./farm-tools.ts";
import { graphTools } from "./graph-tools.ts";
import { logTools } from "./log-tools.ts";
import { mcpInstructions, mcpServerName } from "./server-identity.ts";
import { boundedText, type Tool } from "./tool.ts";

/** All tools, in the order in which they are listed. */
export const mcpTools: readonly Tool[] = [
  ...graphTools,
  ...logTools,
  ...buildTools,
  ...cacheTools,
  ...farmTools,
  ...changeTools,
];

/** Returns an MCP server whose tools call the farm as the holder of the client's token. */
export function mcpServer(api: ApiClient, version: string): McpServer {
  const server = new McpServer({ name: mcpServerName, version }, { instructions: mcpInstructions });
  for (const each of mcpTools) {
    server.registerTool(
      each.name,
      {
        title: each.title,
        description: each.description,
        inputSchema: each.input,
        annotations: {
          readOnlyHint: !each.changes,
          destructiveHint: false,
          idempotentHint: !each.changes,
          openWorldHint: false,
        },
      },
      (input: unknown) => callTool(each, api, input),
    );
  }
  return server;
}

/** Calls a tool. A refusal of the farm becomes an answer with `isError`, which the assistant can read and act on. */
async function callTool(each: Tool, api: ApiClient, input: unknown): Promise<CallToolResult> {
  try {
    const { lines, data } = await each.run(api, input);
    return {
      content: [{ type: "text", text: boundedText(lines) }],
      structuredContent: { ...data },
    };
  } catch (reason) {
    const { lines, json } = explainFailure(reason, paintFor(false));
    // The stack of a bug does not help an assistant.
    const shown = reason instanceof Fault ? lines : lines.slice(0, 1);
    return {
      content: [{ type: "text", text: boundedText(shown) }],
      structuredContent: { ...json },
      isError: true,
    };
  }
}
