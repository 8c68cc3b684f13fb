import type { IncomingMessage, ServerResponse } from "node:http";
import type { CacheTool } from "#api/tool-cache.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Caches, Value, ValueLookup } from "../caches.ts";
import type { EntryName, EntryQuery, Lookup, ToolRules } from "../tool-rules.ts";
import { spanRequested } from "./byte-range.ts";
import { wholeBody } from "./read-body.ts";
import { sendAnswer, sendChunks, sendHead } from "./send.ts";
import { takeBlob, takeEntry } from "./take-entry.ts";

/** One request in progress; its caller is identified and has the required right. */
export interface Exchange {
  readonly caches: Caches;
  readonly rules: ToolRules;
  readonly project: string;
  readonly tool: CacheTool;
  readonly principal: string;
  /** The domain in which the caller writes. It reads there, then in `protected`. */
  readonly domain: TrustDomain;
  readonly method: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client waits for "100 Continue" before it sends its body. */
  readonly coming: { isAwaited: boolean };
  readonly mostEntryBytes: number;
  /** The keys with which a project's artifacts of Turborepo must be signed; none: they are not verified. */
  readonly signatureKeys: (project: string) => Promise<readonly Uint8Array[]>;
  /** Counts bytes before they are stored; throws when they exceed the client's quota. */
  readonly admit: (bytes: number) => Promise<unknown>;
}

const mostQuestionBytes = 1024 * 1024;

export async function carryOut(exchange: Exchange, lookup: Lookup): Promise<void> {
  const { caches, rules, project, tool, response, method } = exchange;
  const named = (key: string): EntryName => ({ project, tool, key });
  const sought = (key: string): EntryQuery => ({ ...named(key), reader: exchange.domain });
  const answer = (told: ReturnType<ToolRules["written"]>) =>
    sendAnswer(response, told, method === "HEAD");

  switch (lookup.kind) {
    case "answer":
      return answer(lookup.answer);

    case "read": {
      const entry = await caches.find(sought(lookup.key));
      if (entry === undefined) return miss(exchange);
      return serveValue(
        exchange,
        entry.digest.sizeBytes,
        rules.hitHeaders(entry.attributes),
        (how) => caches.valueOf(entry, how),
      );
    }

    case "read-blob": {
      const digest = await caches.blobWith(project, lookup.hash);
      if (digest === undefined) return miss(exchange);
      return serveValue(exchange, digest.sizeBytes, {}, (how) =>
        caches.blobValue(project, digest, how),
      );
    }

    case "read-action-result": {
      const how = { headOnly: method === "HEAD" };
      const value = await caches.actionResult(sought(lookup.key), lookup.hash, how);
      if (value === undefined) return miss(exchange);
      return sendValue(exchange, value, {});
    }

    case "write": {
      const entry = {
        ...named(lookup.key),
        domain: exchange.domain,
        attributes: lookup.attributes,
      };
      await takeEntry(exchange, entry, lookup);
      caches.counter.count(project, tool, "writes");
      return answer(rules.written(lookup.key));
    }

    case "write-blob":
      await takeBlob(exchange, lookup.hash);
      caches.counter.count(project, tool, "writes");
      return answer(rules.written(lookup.hash));

    case "remove":
      return answer(rules.removed(await caches.remove(named(lookup.key), exchange.domain)));

    case "look": {
      const keys = lookup.keysIn(await wholeBody(exchange, mostQuestionBytes));
      const found = await caches.findMany(keys.map(sought));
      return answer(lookup.tell(new Map(found.map((entry) => [entry.key, entry]))));
    }
  }
}

/** Returned instead of thrown: half of all requests are misses, and a stack trace costs more than the answer. */
function miss({ caches, rules, project, tool, method, response }: Exchange): void {
  if (method === "GET") caches.counter.count(project, tool, "misses");
  sendAnswer(response, rules.refused(noEntry, method), method === "HEAD");
}

const noEntry = { status: 404, code: "not_found", message: "there is no such entry" };

async function serveValue(
  exchange: Exchange,
  sizeBytes: number,
  headers: Readonly<Record<string, string>>,
  open: (lookup: ValueLookup) => Promise<Value | undefined>,
): Promise<void> {
  const { method, rules, request } = exchange;
  const certain = rules.isFragile;
  if (method === "HEAD") {
    const value = await open({ headOnly: true });
    return value === undefined ? miss(exchange) : sendValue(exchange, value, headers);
  }
  const span = spanRequested(request.headers.range, sizeBytes);
  if (span === "all") {
    const value = await open({ certain });
    return value === undefined ? miss(exchange) : sendValue(exchange, value, headers);
  }
  if (span === "unsatisfiable") {
    const { response } = exchange;
    sendHead(response, 416, { "content-range": `bytes */${sizeBytes}`, "content-length": 0 });
    response.end();
    return;
  }
  const length = span.end - span.start;
  const value = await open({ certain, range: { offset: span.start, limit: length } });
  if (value === undefined) return miss(exchange);
  await sendValue(exchange, value, headers, {
    status: 206,
    length,
    headers: { "content-range": `bytes ${span.start}-${span.end - 1}/${sizeBytes}` },
  });
}

async function sendValue(
  { caches, project, tool, method, response }: Exchange,
  value: Value,
  headers: Readonly<Record<string, string>>,
  part: { status: number; length: number; headers: Readonly<Record<string, string>> } = {
    status: 200,
    length: value.digest.sizeBytes,
    headers: {},
  },
): Promise<void> {
  sendHead(response, part.status, {
    ...headers,
    ...part.headers,
    etag: `"${value.digest.hash}"`,
    "content-length": part.length,
  });
  if (method === "HEAD") {
    response.end();
    return;
  }
  caches.counter.count(project, tool, "hits");
  if (value.kind === "bytes") response.end(value.bytes);
  else await sendChunks(response, value.chunks);
}
