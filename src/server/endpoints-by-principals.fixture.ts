import type { Endpoint } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import type { Right } from "#core/right.ts";
import { readingVerbs, type Verb } from "#core/verb.ts";
import { sql } from "#db/sql.ts";
import { pathOf } from "#grpc/method.ts";
import { askServer } from "../../test/support/ask-server.ts";
import { grpcServices } from "./grpc/grpc-services.ts";
import { methodRights } from "./grpc/method-rights.ts";
import { aClosedFarm } from "./two-projects.fixture.ts";

interface Caller {
  readonly grants: readonly (readonly [verb: Verb | "*", repository: string])[];
  readonly token: "valid" | "none" | "wrong" | "expired";
}

const everywhere = (...verbs: readonly (Verb | "*")[]) => verbs.map((verb) => [verb, "*"] as const);

/** The kinds of callers, with the grants that they get on a private farm. */
const callers = {
  "no token": { grants: [], token: "none" },
  "wrong token": { grants: [], token: "wrong" },
  "expired token": { grants: everywhere("*"), token: "expired" },
  "reader of another project": {
    grants: readingVerbs.map((verb) => [verb, "team/other"] as const),
    token: "valid",
  },
  worker: { grants: everywhere("work"), token: "valid" },
  collector: {
    grants: [
      ["measure", "collector"],
      ["read", "default"],
    ],
    token: "valid",
  },
  granary: { grants: [["cache", "default"]], token: "valid" },
  reader: { grants: everywhere(...readingVerbs, "read-audit"), token: "valid" },
  owner: { grants: everywhere("*"), token: "valid" },
} as const satisfies Readonly<Record<string, Caller>>;

type CallerName = keyof typeof callers;
export const callerNames = Object.keys(callers) as CallerName[];

type Answer = "unauthenticated" | "permission_denied" | "reached";

/** What one caller got from one endpoint or gRPC method, and what the table of rights says. */
interface Cell {
  readonly call: string;
  readonly expected: Answer;
  readonly observed: Answer;
}

/**
 * A private farm on which each kind of caller calls every endpoint and every gRPC method.
 *
 * No call can change anything: parameters and bodies are such that no endpoint or method accepts them.
 */
export async function aFarmOfCallers(database: "shared" | "own" = "shared") {
  const farm = await aClosedFarm({}, database);
  const root = await farm.tokenOf("second-root", ["*"]);
  const tokens = new Map<CallerName, string>();
  for (const name of callerNames) {
    const { grants, token }: Caller = callers[name];
    const principal = name.replaceAll(" ", "-");
    if (token === "none") tokens.set(name, "");
    if (token === "wrong") tokens.set(name, `grange_${"A".repeat(43)}`);
    if (token === "none" || token === "wrong") continue;
    tokens.set(name, await farm.tokenOf(principal, []));
    for (const [verb, repository] of grants)
      await askServer(farm.server, "POST", "/grants", { principal, verb, repository }, root);
    if (token === "expired") {
      await farm.server.services.db.run(
        sql`update token set expires_at = now() - interval '1 s' where principal = ${principal}`,
      );
    }
  }
  await askServer(farm.server, "PUT", "/access", { access: "private" }, root);

  return {
    /** Calls all endpoints over HTTP. */
    async endpointsBy(name: CallerName): Promise<Cell[]> {
      const cells: Cell[] = [];
      for (const [call, entry] of Object.entries<Endpoint>(allEndpoints)) {
        const observed = await overHttp(farm.server.url, entry, tokens.get(name) ?? "");
        cells.push({ call, expected: expectedOf(callers[name], entry.right), observed });
      }
      return cells;
    },
    /** Calls all methods over gRPC. */
    async methodsBy(name: CallerName): Promise<Cell[]> {
      const { channel } = farm.asker("team/one", tokens.get(name) ?? "");
      const cells: Cell[] = [];
      for (const [call, method] of methods) {
        const right = methodRights[call];
        if (right === undefined) continue;
        const signal = AbortSignal.timeout(longestCallMs);
        const observed = await overGrpc(channel.raw(method, [new Uint8Array()], { signal }));
        cells.push({ call, expected: expectedOf(callers[name], right), observed });
      }
      return cells;
    },
    stop: () => farm.stop(),
  };
}

/** Returns the cells whose answer is not the expected one, for people. */
export function unexpected(cells: readonly Cell[]): string[] {
  return cells
    .filter(({ expected, observed }) => expected !== observed)
    .map(({ call, expected, observed }) => `${call}: ${observed}, expected ${expected}`);
}

/** Methods that wait for work or for changes do not answer: then their handler was reached. */
const longestCallMs = 1_000;

/**
 * What a caller must get from a call with this right, before anything of the call is read. Written anew here: the
 * server's own function would agree with itself.
 */
function expectedOf({ grants, token }: Caller, right: Right): Answer {
  if (token === "wrong" || token === "expired") return "unauthenticated";
  if (right.kind === "none") return "reached";
  const verbs: readonly string[] = ["*", ...right.verbs];
  const sufficient = grants.some(
    ([verb, repository]) => verbs.includes(verb) && (right.kind !== "farm" || repository === "*"),
  );
  return sufficient ? "reached" : "permission_denied";
}

async function overHttp(url: string, { method, path }: Endpoint, token: string): Promise<Answer> {
  const filled = path.replaceAll(/:[a-zA-Z]+(\{[^}]*\})?/g, "x");
  // A parameter and a body that no endpoint accepts: the handler does not run.
  const response = await fetch(new URL(`/api/v1${filled}?nobodyKnowsThis=1`, url), {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(method === "GET" ? {} : { body: "not JSON" }),
  });
  await response.body?.cancel();
  if (response.status === 401) return "unauthenticated";
  return response.status === 403 ? "permission_denied" : "reached";
}

async function overGrpc(answers: AsyncIterable<unknown>): Promise<Answer> {
  try {
    for await (const answer of answers) {
      void answer;
      return "reached";
    }
    return "reached";
  } catch (reason) {
    const { code, message } = reason as { readonly code?: string; readonly message: string };
    if (code === "unauthenticated") return code;
    // A handler that runs may refuse the project or the pool of the empty request: then it was reached.
    return code === "permission_denied" && message.includes("anywhere on this farm")
      ? code
      : "reached";
  }
}

/** All methods of the protocols, by path; a farm may serve only some. */
export const methodsOfProtocols = grpcServices.flatMap(({ service }) =>
  service.methods.map((each) => [pathOf(each), each] as const),
);
const methods = methodsOfProtocols.filter(([path]) => path in methodRights);
