import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { checkAppToken } from "./app-token.ts";
import type { FakeAnswer } from "./fake-github.ts";
import type { FakeState } from "./fake-state.ts";
import { findRoute } from "./route-table.ts";
import { type Call, Refusal, type Reply, type Route } from "./routes/route.ts";
import type { WebhookSender } from "./webhook-sender.ts";

interface ApiParts {
  readonly state: FakeState;
  readonly webhooks: WebhookSender;
  readonly publicKey: string;
  readonly hourlyRequests: number;
  readonly onAnswer: ((answer: FakeAnswer) => void) | undefined;
  /** By route, and for each request, including failed ones. */
  readonly requests: Map<string, number>;
}

const documentation = "https://docs.github.com/rest";

/** Answers one request of the API, with the configured faults. */
export function apiServer(parts: ApiParts) {
  const { state } = parts;
  let counted = 0;

  const who = (request: IncomingMessage, route: Route, parameters: Call["parameters"]) => {
    const [, scheme, credential = ""] =
      /^(bearer|token)\s+(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    if (scheme === undefined) throw new Refusal(401, "Requires authentication");
    if (route.by === "app") {
      if (credential.split(".").length !== 3)
        throw new Refusal(401, "A JSON web token could not be decoded");
      checkAppToken(credential, parts.publicKey, state.appId, state.now());
      return;
    }
    const token = state.tokens.get(credential);
    if (token === undefined || token.expiresAt <= state.now())
      throw new Refusal(401, "Bad credentials");
    const { owner, repo } = parameters;
    if (owner !== undefined) {
      const repository = state.repositories.get(`${owner}/${repo}`.toLowerCase());
      const isHidden =
        repository === undefined ||
        !repository.isInstalled ||
        repository.owner !== token.owner ||
        token.repositories?.includes(repository.name) === false;
      // The response for an object without permission is the same as for one that does not exist.
      if (isHidden) throw new Refusal(404, "Not Found");
    }
    const [permission, level] = route.needs ?? [];
    const granted = permission === undefined ? "write" : token.permissions[permission];
    if (granted === undefined || (level === "write" && granted === "read"))
      throw new Refusal(403, "Resource not accessible by integration", {
        headers: { "x-accepted-github-permissions": `${permission}=${level}` },
      });
  };

  const overLimit = () => {
    if (counted < parts.hourlyRequests) return;
    throw new Refusal(403, "API rate limit exceeded for installation ID 1.");
  };

  const isDrawn = (share: number) => share > 0 && state.draw() < share;

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", state.url);
    const found = findRoute(request.method ?? "GET", url.pathname);
    const key = `${request.method} ${found?.route.path ?? url.pathname}`;
    parts.requests.set(key, (parts.requests.get(key) ?? 0) + 1);
    const text = await bodyText(request);
    const isWrite = request.method !== "GET";

    const respond = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      const json = body === undefined ? "" : jsonText(body);
      response.writeHead(status, {
        date: state.now().toUTCString(),
        "x-github-request-id": "FAKE",
        "x-ratelimit-limit": String(parts.hourlyRequests),
        "x-ratelimit-remaining": String(Math.max(0, parts.hourlyRequests - counted)),
        "x-ratelimit-reset": String(Math.floor(state.now().getTime() / 1_000) + 3_600),
        ...(json === "" ? {} : { "content-type": "application/json; charset=utf-8" }),
        ...headers,
      });
      response.end(json);
    };
    const badGateway = () => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end("<html><h1>502 Bad Gateway</h1></html>");
    };

    try {
      const { faults } = state;
      if (isDrawn(faults.badGateway)) return badGateway();
      if (isDrawn(faults.serverError)) throw new Refusal(500, "Server Error");
      if (isDrawn(faults.secondaryLimit))
        throw new Refusal(
          403,
          "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
          { headers: { "retry-after": String(faults.retryAfterSeconds) } },
        );
      overLimit();
      if (found === undefined) throw new Refusal(404, "Not Found");
      who(request, found.route, found.parameters);
      const reply = found.route.handle({
        state,
        webhooks: parts.webhooks,
        parameters: found.parameters,
        query: url.searchParams,
        body: parsedJson(text),
      });
      const { body, link } = paged(reply, url);
      parts.onAnswer?.({
        method: found.route.method,
        route: found.route.path,
        status: reply.status,
        body,
      });
      if (isWrite && isDrawn(faults.timeoutAfterSuccess)) {
        // The change is made, and the client gets no response.
        setTimeout(() => response.destroy(), faults.hangMs);
        return;
      }
      if (isWrite && isDrawn(faults.errorAfterSuccess)) {
        counted++;
        return state.draw() < 0.5 ? badGateway() : respond(500, { message: "Server Error" });
      }
      const json = body === undefined ? "" : jsonText(body);
      const etag = `W/"${createHash("sha256").update(json).digest("hex")}"`;
      const headers = { ...(link === undefined ? {} : { link }), ...(isWrite ? {} : { etag }) };
      // An unchanged response does not count against the limit.
      if (!isWrite && request.headers["if-none-match"] === etag)
        return respond(304, undefined, headers);
      counted++;
      respond(reply.status, body, headers);
    } catch (reason) {
      if (response.headersSent) return void response.destroy();
      if (!(reason instanceof Refusal)) {
        // A bug of the fake itself, which must not look like a configured fault.
        respond(599, { message: `the fake failed: ${String(reason)}` });
        return;
      }
      const { headers, ...more } = reason.more as { headers?: Record<string, string> };
      const body = {
        message: reason.message,
        documentation_url: documentation,
        status: String(reason.status),
        ...more,
      };
      respond(reason.status, body, headers);
    }
  };
}

async function bodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function parsedJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "Problems parsing JSON");
  }
}

/** Returns JSON in which a bigint is a number, like GitHub's ids. */
function jsonText(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === "bigint" ? `\u0000${value}\u0000` : value,
  ).replaceAll(/"\\u0000([0-9]+)\\u0000"/g, "$1");
}

function paged(reply: Reply, url: URL): { readonly body: unknown; readonly link?: string } {
  const { list, under, link } = reply;
  if (list === undefined) return { body: reply.body, ...(link === undefined ? {} : { link }) };
  const whole = (name: string, usual: number) =>
    Math.max(1, Math.floor(Number(url.searchParams.get(name) ?? usual)) || usual);
  const perPage = Math.min(100, whole("per_page", 30));
  const page = whole("page", 1);
  const items = list.slice((page - 1) * perPage, page * perPage).map((make) => make());
  const pages = Math.max(1, Math.ceil(list.length / perPage));
  const at = (number: number, rel: string) => {
    const address = new URL(url);
    address.searchParams.set("page", String(number));
    return `<${address.href}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [at(page - 1, "prev"), at(1, "first")] : []),
    ...(page < pages ? [at(page + 1, "next"), at(pages, "last")] : []),
  ];
  return {
    body: under === undefined ? items : { total_count: list.length, [under]: items },
    ...(links.length === 0 ? {} : { link: links.join(", ") }),
  };
}
