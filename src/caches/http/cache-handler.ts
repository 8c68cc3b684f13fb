import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { anyone, grantsFor, type Principal } from "#access/principal.ts";
import { grantCommand } from "#access/require-grant.ts";
import { domainOfClient, mayKeep } from "#access/trust-domains/domain-of-client.ts";
import { Fault } from "#core/fault.ts";
import { isOurHost } from "#core/host-guard.ts";
import { retryAfterMsOf, retryAfterSeconds } from "#core/too-many-requests.ts";
import { certificateOf } from "#grpc/issued-to.ts";
import { cacheAddressOf, cachePrefix } from "../cache-address.ts";
import type { Caches } from "../caches.ts";
import { plainRules } from "../plain-rules.ts";
import { projectOf } from "../rev2/project-of.ts";
import { rulesOf } from "../rules-of.ts";
import type { CacheRequest, ToolRules } from "../tool-rules.ts";
import { carryOut, type Exchange } from "./carry-out.ts";
import { discard } from "./read-body.ts";
import { refusalOf } from "./refusal-of.ts";
import { sendAnswer } from "./send.ts";

interface CacheHandlerOptions {
  readonly caches: Caches;
  readonly identify: (
    authorization: string | undefined,
    certificateOf: string | undefined,
    request: IncomingMessage,
  ) => Promise<Principal>;
  /** The address that the server listens on; requests for other hosts are refused. */
  readonly host: string;
  readonly mostEntryBytes: number;
  /** The keys with which a project's artifacts of Turborepo must be signed. No project has any when absent. */
  readonly signatureKeys?: (project: string) => Promise<readonly Uint8Array[]>;
  /** Counts a write of a caller; returns the function that ends it. Throws when the caller has too many in progress. */
  readonly beginWrite?: (principal: Principal, request: IncomingMessage) => () => void;
  /** Counts bytes before they are written into a project; throws when the quota is exceeded. No limit when absent. */
  readonly admit?: (principal: Principal, project: string, bytes: number) => Promise<unknown>;
  /** A connection without traffic for this time, in the middle of a request, is closed. */
  readonly idleMs: number;
  readonly logger: Logger;
}

/** Handles requests under `/cache/`; returns false for all others and does not touch them. */
export type CacheHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  /** The client waits for "100 Continue" before it sends its body. */
  expectsContinue?: boolean,
) => boolean;

/** A refused client may have sent its body already, or may still be sending it. */
const waitLimitMs = { bytes: 64 * 1024 * 1024, ms: 10_000 };
/** Limits for a tool that handles a closed connection badly; a silent connection is closed anyway. */
const fragileLimits = { bytes: Number.POSITIVE_INFINITY, ms: 60 * 60_000 };

/** The caches of build tools, directly on Node's HTTP, because requests here are large or frequent. */
export function cacheHandler(options: CacheHandlerOptions): CacheHandler {
  return (request, response, expectsContinue = false) => {
    if (request.url?.startsWith(cachePrefix) !== true) return false;
    // After the response, keep-alive has its own timeout.
    request.socket.setTimeout(options.idleMs);
    serve(options, request, response, expectsContinue).catch((err: unknown) => {
      options.logger.error({ err, path: request.url }, "a cache request failed");
      response.destroy();
    });
    return true;
  };
}

async function serve(
  options: CacheHandlerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  const method = request.method ?? "GET";
  let rules: Omit<ToolRules, "lookupOf"> = plainRules;
  const coming = { isAwaited: expectsContinue };
  let endWrite: (() => void) | undefined;
  try {
    if (!isOurHost(request.headers.host, options.host)) {
      throw new Fault(
        "permission_denied",
        "this server does not accept requests for this host name",
      );
    }
    const address = cacheAddressOf(request.url ?? "");
    const { tool } = address;
    rules = rulesOf[tool];
    const project = projectOf(address.project);
    const asked: CacheRequest = { ...address, method, header: (name) => headerOf(request, name) };
    const lookup = rulesOf[tool].lookupOf(asked);
    if (lookup.kind === "answer" && method === "OPTIONS") {
      // A preflight carries no token.
      sendAnswer(response, lookup.answer, false);
      return;
    }
    const principal = await options.identify(
      authorizationOf(request),
      certificateOf(request.socket),
      request,
    );
    if (lookup.kind === "write" || lookup.kind === "write-blob" || lookup.kind === "remove") {
      requireToWrite(principal, project);
      endWrite = options.beginWrite?.(principal, request);
    } else {
      requireToRead(principal, project);
    }
    const exchange: Exchange = {
      caches: options.caches,
      mostEntryBytes: options.mostEntryBytes,
      signatureKeys: options.signatureKeys ?? (async () => []),
      admit: async (bytes) => options.admit?.(principal, project, bytes),
      rules: rulesOf[tool],
      project,
      tool,
      principal: principal.name,
      domain: domainOfClient(principal, project),
      method,
      request,
      response,
      coming,
    };
    await carryOut(exchange, lookup);
  } catch (reason) {
    await refuse(reason, rules, options, request, response, coming.isAwaited);
  } finally {
    endWrite?.();
  }
}

/**
 * A caller without a token gets another status if a token is required to write, because only the token may be missing.
 */
function requireToWrite(principal: Principal, project: string): void {
  if (mayKeep(principal, project)) return;
  const where = { repository: project, branch: "" };
  const isNobody = principal.name === anyone;
  throw new Fault(
    isNobody ? "unauthenticated" : "permission_denied",
    isNobody
      ? `writing to the caches of ${project} needs a token whose holder has the right \`cache\` or \`execute\` there`
      : `${principal.name} may not write to the caches of ${project}: ask an administrator of the farm to run \`${grantCommand(principal.name, "cache", where)}\` to write entries that all read, or for the right \`execute\` to write entries that only ${principal.name} reads`,
  );
}

/** Build tools that may write or execute may also read. */
function requireToRead(principal: Principal, project: string): void {
  const where = { repository: project, branch: "" };
  if (grantsFor(principal, ["read", "cache", "execute"], where).length > 0) return;
  const isNobody = principal.name === anyone;
  throw new Fault(
    isNobody ? "unauthenticated" : "permission_denied",
    isNobody
      ? `reading the caches of ${project} needs a token whose holder has the right \`read\` there`
      : `${principal.name} may not read the caches of ${project}: ask an administrator of the farm to run \`${grantCommand(principal.name, "read", where)}\``,
  );
}

async function refuse(
  reason: unknown,
  rules: Omit<ToolRules, "lookupOf">,
  { logger }: CacheHandlerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  isAwaited: boolean,
): Promise<void> {
  // A client that disconnected, or sent less than announced, does not wait for a response.
  if (response.destroyed || request.socket.destroyed) return;
  const method = request.method ?? "GET";
  const refusal = refusalOf(reason);
  if (refusal.status >= 500) {
    logger.error({ err: reason, path: request.url }, "a cache request failed");
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { headers, ...rest } = rules.refused(refusal, method);
  const retryAfterMs = retryAfterMsOf(reason);
  const answer = {
    ...rest,
    headers: {
      ...headers,
      ...(rest.status === 401 ? { "www-authenticate": 'Bearer, Basic realm="grange"' } : {}),
      ...(retryAfterMs === undefined ? {} : { "retry-after": retryAfterSeconds(retryAfterMs) }),
      // Its body was not requested, but may arrive anyway.
      ...(isAwaited ? { connection: "close" } : {}),
    },
  };
  const headOnly = method === "HEAD";
  if (isAwaited) {
    sendAnswer(response, answer, headOnly);
    return;
  }
  if (rules.isFragile) await discard(request, fragileLimits);
  if (response.destroyed) return;
  sendAnswer(response, answer, headOnly);
  if (!(await discard(request, waitLimitMs))) request.socket.destroySoon();
}

/** Turborepo uses no cache without a token: this word stands for "no token". */
function authorizationOf(request: IncomingMessage): string | undefined {
  const said = headerOf(request, "authorization");
  return said !== undefined && /^bearer none$/i.test(said) ? undefined : said;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  return request.headersDistinct[name]?.join(", ");
}
