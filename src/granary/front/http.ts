import type { IncomingMessage, ServerResponse } from "node:http";
import { everybody } from "#access/principal.ts";
import { cacheAddressOf, cachePrefix } from "#caches/cache-address.ts";
import { cacheCounter } from "#caches/cache-counts.ts";
import { cacheHandler } from "#caches/http/cache-handler.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import type { Digest } from "#core/digest.ts";
import { isOurHost } from "#core/host-guard.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { BuildRegistry } from "../builds/build.ts";
import { type IsOwn, notOwn } from "./connection-owner.ts";
import { identifyRequester, parseBuildUrl } from "./identify-requester.ts";
import { type ToolCachesParts, toolCaches } from "./tool-caches.ts";

/** Only loopback. */
export const frontHost = "127.0.0.1";

const rememberedDigests = 200_000;

/** A local connection without traffic for this time belongs to a stopped tool. */
const idleMs = 10 * 60_000;

interface HttpFrontParts extends Omit<ToolCachesParts, "counter" | "named"> {
  readonly builds: BuildRegistry;
  readonly isOwn: IsOwn;
  readonly mostEntryBytes: number;
}

type HttpFront = (
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
) => void;

/** Handles HTTP requests of tools, for the build in their address. */
export function httpFront({ builds, isOwn, mostEntryBytes, ...parts }: HttpFrontParts): HttpFront {
  const forCaches = {
    ...parts,
    counter: cacheCounter(),
    named: recentlyUsed<Digest>(rememberedDigests),
  };
  return (request, response, expectsContinue) => {
    const { url, build } = parseBuildUrl(request.url ?? "/");
    request.url = url;
    if (!url.startsWith(cachePrefix)) {
      answerOthers(request, response);
      return;
    }
    const known = identifyRequester(builds, projectIn(url), build);
    const environment = known.build?.environment ?? builds.environmentOf(known.project);
    const who = { ...known, environment };
    const method = request.method ?? "GET";
    // Making a closure for each request is cheap; it knows the requesting build.
    const handle = cacheHandler({
      caches: toolCaches(forCaches, who, method === "PUT"),
      // A client that reaches the loopback interface builds on this machine.
      identify: async () => everybody,
      host: frontHost,
      mostEntryBytes,
      idleMs,
      logger: parts.logger,
    });
    // A caller that knows a build's id belongs to it.
    if (!writing.has(method) || builds.find(build) !== undefined) {
      handle(request, response, expectsContinue);
      return;
    }
    const { remotePort: client = 0, localPort: server = 0 } = request.socket;
    isOwn({ client, server }).then(
      (own) => {
        if (own) handle(request, response, expectsContinue);
        else answerShort(request, response, 403, `${notOwn}\n`);
      },
      (err: unknown) => {
        parts.logger.warn({ err }, "the user of the connection is not known");
        answerShort(request, response, 403, `${notOwn}\n`);
      },
    );
  };
}

/** The methods that write: their data are given to this user's builds, and sent to the farm in this user's name. */
const writing: ReadonlySet<string> = new Set(["PUT", "DELETE"]);

/** The handler refuses an invalid address in the way that its tool expects. */
function projectIn(url: string): string {
  try {
    return projectOf(cacheAddressOf(url).project);
  } catch {
    return "";
  }
}

function answerOthers(request: IncomingMessage, response: ServerResponse): void {
  const isOurs = isOurHost(request.headers.host, frontHost);
  const isHealth = isOurs && request.url === "/healthz";
  const status = isHealth ? 200 : isOurs ? 404 : 403;
  const text = isHealth
    ? "ok\n"
    : isOurs
      ? `caches are at [/build/ID]${cachePrefix}PROJECT/TOOL/...\n`
      : "this granary does not accept requests for this host name\n";
  answerShort(request, response, status, text);
}

function answerShort(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): void {
  request.resume();
  response.writeHead(status, { "content-type": "text/plain", "content-length": text.length });
  response.end(request.method === "HEAD" ? undefined : text);
}
