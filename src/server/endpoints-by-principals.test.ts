import { afterAll, beforeAll, expect, test } from "vitest";
import type { Principal } from "#access/principal.ts";
import { requireRight } from "#access/require-right.ts";
import type { Endpoint } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import type { Right } from "#core/right.ts";
import { readingVerbs, type Verb } from "#core/verb.ts";
import { sql } from "#db/sql.ts";
import { pathOf } from "#grpc/method.ts";
import {
  ActionCache,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { askServer } from "../../test/support/ask-server.ts";
import { methodRights } from "./grpc/method-rights.ts";
import { aClosedFarm } from "./two-projects.fixture.ts";

interface Caller {
  readonly grants: readonly (readonly [verb: Verb | "*", repository: string])[];
  readonly token: "valid" | "none" | "wrong" | "expired";
}

const everywhere = (...verbs: readonly (Verb | "*")[]) => verbs.map((verb) => [verb, "*"] as const);

/** The kinds of callers, with the grants that they get on a private farm. */
const callers: Readonly<Record<string, Caller>> = {
  "no token": { grants: [], token: "none" },
  "wrong token": { grants: [], token: "wrong" },
  "expired token": { grants: everywhere("*"), token: "expired" },
  "reader of one project": {
    grants: readingVerbs.map((verb) => [verb, "team/one"] as const),
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
};

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
const tokens = new Map<string, string>();
beforeAll(async () => {
  farm = await aClosedFarm();
  const root = await farm.tokenOf("second-root", ["*"]);
  for (const [name, { grants, token }] of Object.entries(callers)) {
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
});
afterAll(() => farm?.stop());

type Answer = "unauthenticated" | "permission_denied" | "reached";

/** What a caller must get from a call with this right, before anything of the call is read. */
function expected({ grants, token }: Caller, right: Right): Answer {
  if (token === "wrong" || token === "expired") return "unauthenticated";
  const principal: Principal = {
    name: "somebody",
    grants: grants.map(([verb, repository]) => ({
      verb,
      repository,
      branch: "*",
      priorityCap: null,
      top: false,
    })),
  };
  try {
    requireRight(principal, right);
    return "reached";
  } catch {
    return "permission_denied";
  }
}

async function overHttp({ method, path }: Endpoint, token: string): Promise<Answer> {
  const filled = path.replaceAll(/:[a-zA-Z]+(\{[^}]*\})?/g, "x");
  // A parameter and a body that no endpoint accepts: the handler does not run.
  const response = await fetch(new URL(`/api/v1${filled}?nobodyKnowsThis=1`, farm.server.url), {
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

const services = [
  ContentAddressableStorage,
  ByteStream,
  ActionCache,
  Execution,
  Operations,
  Granaries,
  Workers,
];
const methods = services
  .flatMap(({ methods: of }) => of.map((each) => [pathOf(each), each] as const))
  .filter(([path]) => path in methodRights);

test.each(Object.entries(callers))(
  "%s gets of each endpoint what the table states",
  async (name, caller) => {
    const observed: Record<string, Answer> = {};
    const stated: Record<string, Answer> = {};
    for (const [endpoint, entry] of Object.entries<Endpoint>(allEndpoints)) {
      observed[endpoint] = await overHttp(entry, tokens.get(name) ?? "");
      stated[endpoint] = expected(caller, entry.right);
    }

    expect(observed).toEqual(stated);
  },
);

test.each(Object.entries(callers))(
  "%s gets of each gRPC method what the table states",
  async (name, caller) => {
    const { channel } = farm.asker("team/one", tokens.get(name) ?? "");
    const observed: Record<string, Answer> = {};
    const stated: Record<string, Answer> = {};
    for (const [path, method] of methods) {
      const right = methodRights[path];
      if (right === undefined) continue;
      stated[path] = expected(caller, right);
      // A handler that runs may check the project and refuse the call, too, and one may wait for work.
      if (stated[path] === "reached") continue;
      const call = async () => {
        for await (const answer of channel.raw(method, [new Uint8Array()])) void answer;
      };
      observed[path] = await call().then(
        () => "reached",
        (reason: { code: Answer }) => reason.code,
      );
    }

    const refused = Object.entries(stated).filter(([, answer]) => answer !== "reached");
    expect(observed).toEqual(Object.fromEntries(refused));
  },
);
