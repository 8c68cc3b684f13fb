import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { stopRequest } from "../until-told-to-stop.ts";
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
    .action((options: McpOptions) =>
      inSession(options, async ({ api, config, terminal }) => {
        const { told } = stopRequest(false);
        const { serveMcpOnStdio, serveMcpOverHttp } = await import("../mcp/serve-mcp.ts");
        if (options.http !== true) {
          await serveMcpOnStdio(api, program.version, told);
          return exitCodes.ok;
        }
        const { apiClient } = await import("../api/api-client.ts");
        const { ca, clientCertificate } = config;
        const serving = await serveMcpOverHttp({
          port: options.port,
          version: program.version,
          apiFor: (token) => apiClient(api.serverUrl, { token, ca, clientCertificate }),
        });
        terminal.answer.line(
          `MCP at ${serving.url} for the farm ${api.serverUrl}; Ctrl-C stops it`,
        );
        await told;
        await serving.stop();
        return exitCodes.ok;
      }),
    );
  withExamples(command, [
    ["an assistant starts this command and uses its stdin and stdout", "mcp"],
    [
      "the same for a farm on another machine",
      "mcp --server https://farm:8980 --token-file ~/.grange-token",
    ],
    ["over HTTP, for assistants that connect to an address", "mcp --http --port 8983"],
  ]);
};
