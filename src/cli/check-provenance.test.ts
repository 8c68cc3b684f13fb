import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { sealEnvelope } from "#access/provenance/envelope.ts";
import { checkProvenance } from "./check-provenance.ts";

const hash = "a".repeat(64);
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const publicBytes = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
const key = {
  id: createHash("sha256").update(publicBytes).digest("hex").slice(0, 16),
  sign: (bytes: Uint8Array) => sign(null, bytes, privateKey),
};
const said = {
  _type: "https://in-toto.io/Statement/v1",
  predicateType: "https://slsa.dev/provenance/v1",
  subject: [{ name: "app", digest: { sha256: hash } }],
  predicate: {
    buildDefinition: { externalParameters: { commit: "c", branch: "main", repository: "r" } },
    runDetails: { builder: { id: "b" }, metadata: { invocationId: "i", finishedOn: "now" } },
  },
};
const good = sealEnvelope(key, said);
const foundIn = (envelope: typeof good, about = hash) =>
  checkProvenance({ envelopes: [envelope] }, about, publicBytes)[0]?.found;

test("a statement that the key signed is read", () => {
  expect(foundIn(good)).toEqual({ kind: "holds", statement: said });
});

test.each([
  { what: "another output", envelope: good, about: "b".repeat(64), problem: /not about b{64}/ },
  {
    what: "a body that was changed, and is no JSON",
    envelope: { ...good, payload: Buffer.from("{").toString("base64") },
    problem: /not signed/,
  },
  {
    what: "another type of body",
    envelope: { ...good, payloadType: "text/plain" },
    problem: /not signed/,
  },
  {
    what: "another key's name",
    envelope: { ...good, signatures: good.signatures.map(({ sig }) => ({ keyid: "x", sig })) },
    problem: /not signed/,
  },
  {
    what: "a signed text of another kind",
    envelope: sealEnvelope(key, {}),
    problem: /not a provenance statement/,
  },
])("of $what nothing is read", ({ envelope, about, problem }) => {
  expect(foundIn(envelope, about)).toEqual({
    kind: "refused",
    problem: expect.stringMatching(problem),
  });
});
