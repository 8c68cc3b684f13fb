import { afterAll, beforeAll, expect, test } from "vitest";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { readingVerbs } from "#core/verb.ts";
import { openApiDocument } from "#server/http/openapi-document.ts";
import { aPrivateFarm } from "../../src/server/private-farm.fixture.ts";
import { type Need, needs } from "../support/needs/needs.ts";
import { findProgram } from "../support/needs/program.ts";
import { tryPrincipal } from "./try-principal.ts";

const program = process.env["GRANGE_SCHEMATHESIS"] ?? findProgram("schemathesis");

const schemathesis: Need = {
  name: "Schemathesis",
  missing: program === undefined ? "not installed, and GRANGE_SCHEMATHESIS names none" : undefined,
  remedy: {
    kind: "command",
    command:
      "python3 -m venv ~/.cache/schemathesis && ~/.cache/schemathesis/bin/pip install schemathesis==4.32.5 && GRANGE_SCHEMATHESIS=~/.cache/schemathesis/bin/schemathesis npm test -- test/schemathesis",
  },
};

const document = openApiDocument({ ...signInEndpoints, ...allEndpoints }, "0");

let farm: Awaited<ReturnType<typeof aPrivateFarm>>;
beforeAll(async () => {
  if (program === undefined) return;
  farm = await aPrivateFarm();
});
afterAll(() => farm?.stop());

const tokens = {
  nobody: async () => undefined,
  "a reader": () => farm.tokenOf("schemathesis-reader", readingVerbs),
  "a submitter": () => farm.tokenOf("schemathesis-submitter", ["read", "submit", "cancel"]),
  "an owner": () => farm.tokenOf("schemathesis-owner", ["*"]),
};

test.for(Object.entries(tokens))(
  "%s gets only documented answers, and no failure of the server",
  needs(schemathesis),
  async ([, tokenOf]) => {
    const complaints = await tryPrincipal({
      program: program ?? "",
      url: farm.server.url,
      document,
      token: await tokenOf(),
      examples: 2,
      seed: 1,
    });

    expect(complaints).toBe("");
  },
);
