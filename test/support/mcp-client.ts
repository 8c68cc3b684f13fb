import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { grange } from "./farm.ts";

/** The answer of a tool. */
interface ToolAnswer {
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly isError: boolean;
}

/** Connects the official client to a new `grange mcp` for a farm. */
export async function mcpOverStdio(
  farmUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [grange, "mcp", "--server", farmUrl],
      env: { PATH: process.env["PATH"] ?? "", ...env },
    }),
  );
  return client;
}

/** Connects the official client to a running `grange mcp --http`. */
export async function mcpOverHttp(mcpUrl: string, token: string | undefined): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit: { headers } }),
  );
  return client;
}

export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<ToolAnswer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const text = (content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
  return { text, data: structuredContent as Record<string, unknown>, isError: isError === true };
}
