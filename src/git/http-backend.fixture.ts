import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { gitEnvironment } from "./config.ts";

/** Repositories below a directory, served over HTTP on the loopback by Git's own program. */
interface RepositoryServer {
  urlOf(path: string): string;
  /** How many requests there were so far. */
  requests(): number;
  /** From now on, the server only answers requests with this user name and password. */
  requireLogin(username: string, password: string): void;
  /** The command lines of all processes of this machine, read during each request that had the login. */
  commandLinesSeen(): readonly string[];
  stop(): Promise<void>;
}

export async function serveRepositories(root: string): Promise<RepositoryServer> {
  let requests = 0;
  let login: string | undefined;
  const commandLines: string[] = [];
  const server = createServer((request, response) => {
    requests++;
    if (login !== undefined) {
      if (request.headers.authorization !== login) {
        response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end();
        return;
      }
      commandLines.push(...allCommandLines());
    }
    const url = new URL(request.url ?? "/", "http://localhost");
    const env = {
      ...gitEnvironment("/dev/null"),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    };
    const backend = spawn("git", ["http-backend"], { env, stdio: ["pipe", "pipe", "ignore"] });
    backend.stdin.on("error", () => {});
    request.pipe(backend.stdin);
    const parts: Buffer[] = [];
    backend.stdout.on("data", (part: Buffer) => parts.push(part));
    backend.once("close", () => {
      const output = Buffer.concat(parts);
      const end = output.indexOf("\r\n\r\n");
      for (const line of output.toString("latin1", 0, end).split("\r\n")) {
        const [name = "", value = ""] = line.split(": ");
        if (name === "Status") response.statusCode = Number(value.slice(0, 3));
        else if (name !== "") response.setHeader(name, value);
      }
      response.end(output.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path) => `http://127.0.0.1:${port}/${relative(root, path)}`,
    requests: () => requests,
    requireLogin(username, password) {
      login = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    },
    commandLinesSeen: () => commandLines,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function allCommandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        // The process has ended in the meantime.
        return [];
      }
    });
}
