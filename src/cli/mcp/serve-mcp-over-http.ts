import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { Fault } from "#core/fault.ts";
import { isOurHost } from "#core/host-guard.ts";
import type { ApiClient } from "../api/api-client.ts";
import { isToken } from "../token-file.ts";
import { mcpServer } from "./mcp-server.ts";

interface HttpOptions {
  readonly port: number;
  readonly version: string;
  /** Returns a client of the farm for the token of a request; without a token, for anyone. */
  readonly apiFor: (token: string | undefined) => ApiClient;
}

const loopback = "127.0.0.1";

export interface McpOverHttp {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves MCP over HTTP (streamable) on this machine alone.
 *
 * Each request brings its own token in `Authorization`. The token of this process is not used: otherwise every user of
 * the machine could act with it. Hosts and origins other than this machine's are refused, so that a web page cannot
 * call it through DNS rebinding.
 */
export async function serveMcpOverHttp({
  port,
  version,
  apiFor,
}: HttpOptions): Promise<McpOverHttp> {
  const handler = createMcpHandler(({ requestInfo }) =>
    mcpServer(apiFor(tokenOf(requestInfo?.headers.get("authorization") ?? undefined)), version),
  );
  const answer = getRequestListener(async (request: Request) => {
    const host = request.headers.get("host") ?? undefined;
    if (!isOurHost(host, loopback)) return refusal(403, `"${host ?? ""}" is not this machine`);
    const foreign = originValidationResponse(request, localhostAllowedOrigins());
    if (foreign !== undefined) return foreign;
    if (new URL(request.url).pathname !== "/mcp") return refusal(404, "MCP is served at /mcp");
    const authorization = request.headers.get("authorization") ?? undefined;
    if (authorization !== undefined && tokenOf(authorization) === undefined) {
      return refusal(401, "Authorization must be `Bearer` with a token of the farm");
    }
    return handler.fetch(request);
  });
  const server = createServer((request, response) => void answer(request, response));
  await listening(server, port);
  return {
    url: `http://${loopback}:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tokenOf(authorization: string | undefined): string | undefined {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  return token !== undefined && isToken(token) ? token : undefined;
}

function refusal(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === "EADDRINUSE" ? "it is in use; choose another with --port" : cause.message;
      reject(new Fault("failed_precondition", `cannot listen on port ${port}: ${why}`, { cause }));
    });
    server.listen(port, loopback, resolve);
  });
}
