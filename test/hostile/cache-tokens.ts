import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { newToken } from "#access/secret-token.ts";
import { protocols } from "../isolation/poisoned-caches/over-http.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";

type Case = HostileCase<ClosedFarm>;

/** Attempts to write into the caches of a project without the right to. */
const attempts: readonly (readonly [
  name: string,
  headersOf: (farm: ClosedFarm) => Record<string, string>,
  query?: (farm: ClosedFarm) => string,
])[] = [
  ["without a token", () => ({})],
  ["with a token that nobody has", () => ({ authorization: `Bearer ${newToken()}` })],
  ["with the token of another project", ({ mallory }) => ({ authorization: `Bearer ${mallory}` })],
  [
    "with a password that is no token",
    () => ({ authorization: `Basic ${Buffer.from("root:root").toString("base64")}` }),
  ],
  [
    "with the owner's name and another's token",
    ({ mallory }) => ({
      authorization: `Basic ${Buffer.from(`root:${mallory}`).toString("base64")}`,
    }),
  ],
  [
    "with two tokens",
    ({ mallory, root }) => ({ authorization: `Bearer ${mallory}, Bearer ${root}` }),
  ],
  ["with a token in the address", () => ({}), ({ root }) => `access_token=${root}`],
  ["with a cookie", ({ root }) => ({ cookie: `grange_session=${root}` })],
];

/** Another caller for each attempt, so that the limit of wrong tokens answers none of them. */
const from = () => ({ "x-forwarded-for": `198.51.${randomBytes(2).join(".")}` });

export const cacheTokenSuite: HostileSuite<ClosedFarm> = {
  interface: "writes into caches of build tools",
  atLeast: 60,
  cases: protocols.flatMap(({ tool, newPath }) =>
    attempts.map(
      ([name, headersOf, query]): Case => ({
        name: `${tool}: a write ${name}`,
        async run(farm) {
          const url = new URL(`${farm.url}/cache/victim${newPath()}`);
          for (const [key, value] of new URLSearchParams(query?.(farm) ?? ""))
            url.searchParams.set(key, value);
          for (const method of ["PUT", "DELETE"]) {
            const { status } = await fetch(url, {
              method,
              headers: { ...headersOf(farm), ...from() },
              ...(method === "PUT" ? { body: "poison" } : {}),
            });
            // 405: the tool has no such method.
            assert(
              [400, 401, 403, ...(method === "DELETE" ? [404, 405] : [])].includes(status),
              `${method}: ${status}`,
            );
          }
          url.searchParams.delete("access_token");
          const read = await fetch(url, { headers: { authorization: `Bearer ${farm.root}` } });
          assert.equal(read.status, 404, "it was stored");
        },
      }),
    ),
  ),
  open: openClosedFarm,
};
