import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { jsonAnswer, notAllowed, plainRules } from "./plain-rules.ts";
import type { Answer, Attributes, CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

const Hash = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);

/** Headers that are stored with an artifact and returned with it. The tag is the client's signature. */
const kept = {
  "x-artifact-duration": /^\d{1,15}$/,
  "x-artifact-tag": /^[\x21-\x7e]{1,600}$/,
  "x-artifact-sha": /^[0-9A-Za-z]{1,128}$/,
  "x-artifact-dirty-hash": /^[0-9A-Za-z_-]{1,128}$/,
} as const;

/** If the response to a preflight does not name Authorization, turbo omits its token. */
const preflight: Answer = {
  status: 204,
  headers: {
    "access-control-allow-methods": "GET, HEAD, PUT, POST, OPTIONS",
    "access-control-allow-headers":
      "Authorization, Content-Type, User-Agent, X-Artifact-Client-CI, X-Artifact-Client-Interactive, X-Artifact-Dirty-Hash, X-Artifact-Duration, X-Artifact-SHA, X-Artifact-Tag",
  },
};

/**
 * Turborepo's remote cache API, version 8.
 *
 * Teams see only their own artifacts. An artifact may be overwritten: after a change of the signing key, clients reject
 * the old artifacts and upload new ones.
 */
export const turborepoRules: ToolRules = {
  ...plainRules,
  lookupOf(request: CacheRequest): Lookup {
    const { method, path, isFolder } = request;
    const [version, artifacts, last, ...more] = path;
    const isOurs = version === "v8" && artifacts === "artifacts" && more.length === 0;
    if (!isOurs || (isFolder && last !== undefined)) {
      throw new Fault("not_found", "Turborepo's cache has v8/artifacts, and nothing else");
    }
    if (method === "OPTIONS") return { kind: "answer", answer: preflight };
    const team = teamOf(request.query);
    if (last === undefined) {
      if (method === "POST") return describeArtifacts(team);
      return { kind: "answer", answer: notAllowed(method, "POST, OPTIONS") };
    }
    if (last === "status" && method === "GET") {
      return { kind: "answer", answer: jsonAnswer(200, { status: "enabled" }) };
    }
    if (last === "events" && method === "POST") {
      // Clients report their cache hits here; these reports are ignored, because the server counts its own hits.
      const tell = () => jsonAnswer(200, {});
      return { kind: "look", keysIn: (body) => (jsonIn(body, z.array(z.unknown())), []), tell };
    }
    const hash = Hash.safeParse(last);
    if (!hash.success)
      throw new Fault("invalid_argument", `"${last}" is not the hash of an artifact`);
    const key = `${team}/${hash.data}`;
    switch (method) {
      case "GET":
      case "HEAD":
        return { kind: "read", key };
      case "PUT": {
        const attributes = attributesOf(request);
        const teamId = request.query.get("teamId") ?? "";
        const signed = { hash: hash.data, teamId, tag: attributes["x-artifact-tag"] };
        return { kind: "write", key, attributes, again: "replace", signed };
      }
      default:
        return { kind: "answer", answer: notAllowed(method, "GET, HEAD, PUT, OPTIONS") };
    }
  },
  hitHeaders: (attributes) => attributes,
  written: (key) => jsonAnswer(202, { urls: [key.slice(key.indexOf("/") + 1)] }),
  refused: ({ status, code, message }) => jsonAnswer(status, { error: { code, message } }),
};

/** A team has an id, a slug or both; the id does not change when the team gets another name. */
function teamOf(query: URLSearchParams): string {
  const id = query.get("teamId");
  const team = id !== null && id !== "" ? `id:${id}` : `slug:${query.get("slug") ?? ""}`;
  if (/^(id|slug):[A-Za-z0-9._-]{0,128}$/.test(team)) return team;
  throw new Fault("invalid_argument", "a team has up to 128 letters, digits and . _ -");
}

function attributesOf(request: CacheRequest): Attributes {
  const given = Object.entries(kept).flatMap(([name, pattern]) => {
    const value = request.header(name);
    if (value === undefined || value === "") return [];
    if (!pattern.test(value)) throw new Fault("invalid_argument", `header ${name} is malformed`);
    return [[name, value]];
  });
  return Object.fromEntries(given);
}

const Question = z.object({ hashes: z.array(Hash).max(10_000) });

function describeArtifacts(team: string): Lookup {
  let hashes: readonly string[] = [];
  return {
    kind: "look",
    keysIn(body) {
      ({ hashes } = jsonIn(body, Question));
      return hashes.map((hash) => `${team}/${hash}`);
    },
    tell: (found) =>
      jsonAnswer(
        200,
        Object.fromEntries(
          hashes.map((hash) => {
            const entry = found.get(`${team}/${hash}`);
            if (entry === undefined) return [hash, null];
            const tag = entry.attributes["x-artifact-tag"];
            return [
              hash,
              {
                size: entry.digest.sizeBytes,
                taskDurationMs: Number(entry.attributes["x-artifact-duration"] ?? 0),
                ...(tag === undefined ? {} : { tag }),
              },
            ];
          }),
        ),
      ),
  };
}

function jsonIn<T extends z.ZodType>(body: Uint8Array, shape: T): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch (cause) {
    throw new Fault("invalid_argument", "the body is not JSON", { cause });
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalid_argument",
    `the body of the request is invalid: ${z.prettifyError(parsed.error)}`,
  );
}
