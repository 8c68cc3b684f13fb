import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { earlyAnswer, firstLineOf } from "../mcp/early-answer.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { stopRequest } from "../stop-request.ts";
import { numberFrom } from "../whole-number.ts";

interface McpOptions extends CommonOptions {
  readonly http?: boolean;
  readonly port: number;
}

export const describeMcp: Describe = (command, program) => {
  command
    .option("--server <url>", "the farm's address (GRANGE_SERVER; default http://127.0.0.1:8980)")
    .option("--token-file <file>", "a file that contains your token (GRANGE_TOKEN)")
    .option("--http", "serve over HTTP on this machine; each request must contain a token")
    .option(
      "--port <n>",
      "the port for --http; 0 selects a free port",
      numberFrom(0, 65_535),
      8_983,
    )
    .action(async (options: McpOptions) => {
      const { received: stopRequested } = stopRequest(false);
      return options.http === true
        ? serveOverHttp(options, program.version, stopRequested)
        : serveOnStdio(options, program.version, stopRequested);
    });
  withExamples(command, [
    ["an assistant starts this command and uses its stdin and stdout", "mcp"],
    [
      "the same for a farm on another machine",
      "mcp --server https://farm:8980 --token-file ~/.grange-token",
    ],
    ["over HTTP, for assistants that connect to an address", "mcp --http --port 8983"],
  ]);
};

/** Answers the client's first request before it loads what the others need, which takes longer than the answer. */
async function serveOnStdio(
  options: McpOptions,
  version: string,
  stopRequested: Promise<unknown>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
  });
  const stopped = Promise.race([closed, stopRequested]);
  const line = await firstLineOf(process.stdin, stopped);
  const early = line === undefined ? undefined : earlyAnswer(line, version);
  if (early !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...early })}\n`);
  await inSession(options, async ({ api }) => {
    const { serveMcpOnStdio } = await import("../mcp/serve-mcp-on-stdio.ts");
    await serveMcpOnStdio(api, { version, answered: early?.id, stopped });
    return exitCodes.ok;
  });
}

function serveOverHttp(
  options: McpOptions,
  version: string,
  stopRequested: Promise<unknown>,
): Promise<void> {
  return inSession(options, async ({ api, config, terminal }) => {
    const { serveMcpOverHttp } = await import("../mcp/serve-mcp-over-http.ts");
    const { apiClient } = await import("../api/api-client.ts");
    const { ca, clientCertificate } = config;
    const serving = await serveMcpOverHttp({
      port: options.port,
      version,
      apiFor: (token) => apiClient(api.serverUrl, { token, ca, clientCertificate }),
    });
    terminal.answer.line(`MCP at ${serving.url} for the farm ${api.serverUrl}; Ctrl-C stops it`);
    await stopRequested;
    await serving.stop();
    return exitCodes.ok;
  });
}
