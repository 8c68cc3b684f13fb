import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEnvelope } from "#access/provenance/envelope.ts";
import { textOfPublicKey } from "#access/public-key.ts";
import { Provenance } from "#api/provenance.ts";
import { sql } from "#db/sql.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { startProgram } from "../support/process.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const grange = join(import.meta.dirname, "..", "..", "bin", "grange.mjs");
const definitions = `
version: 1
jobs:
  build:
    commands: cat source.txt > app; mkdir dist; echo "of $PPID" > /dev/null; cp app dist/app; echo more > dist/more
    inputs: [source.txt]
    outputs: [app, dist]
`;

let farm: FarmHere;
let repository: SampleRepository;
let commit: string;
beforeAll(async () => {
  farm = await startFarmHere();
  repository = await sampleRepository({ ".grange/farm.yml": definitions });
  commit = await repository.commit({ "source.txt": "what is shipped\n" });
});
afterAll(async () => {
  await farm?.stop();
  await repository?.remove();
});

async function built(source: string, ref?: string): Promise<{ graph: string; digest: string }> {
  commit = await repository.commit({ "source.txt": source });
  const graph = await farm.submit(
    { repository: repository.path, branch: "main" },
    ref === undefined ? {} : { ref },
  );
  await farm.over(graph);
  const { runList } = await farm.job(graph, "build");
  const digest = runList[0]?.outputs.find(({ path }) => path === "app")?.digest;
  return { graph, digest: String(digest) };
}
const ask = (digest: string) => farm.ask(`/provenance?digest=${encodeURIComponent(digest)}`);

test("an output of a protected graph has a signed provenance statement", async () => {
  const { graph, digest } = await built("first\n");

  const { key, envelopes } = Provenance.parse(await (await ask(digest)).json());
  const { farmKey } = farm.services;
  const [envelope] = envelopes;
  const statement = envelope && openEnvelope((...signed) => farmKey.verify(...signed), envelope);

  expect(key).toEqual({ id: farmKey.id, publicKey: textOfPublicKey(farmKey.publicKey) });
  expect(envelopes).toHaveLength(1);
  expect(statement).toMatchObject({
    _type: "https://in-toto.io/Statement/v1",
    subject: [
      { name: "app", digest: { sha256: digest.split("/")[0] } },
      { name: "dist", digest: { rev2TreeSha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        externalParameters: { commit, branch: "main", job: "build", network: false },
        resolvedDependencies: [{ digest: { gitCommit: commit } }, { name: "inputs" }],
      },
      runDetails: {
        builder: { id: `https://grange.invalid/farm/${farmKey.id}` },
        metadata: { invocationId: `${graph}/build/1` },
      },
    },
  });
});

test("a cache hit has the statement of the run that made the result", async () => {
  const first = await built("second\n");
  const again = await built("second\n");

  const { envelopes } = Provenance.parse(await (await ask(again.digest)).json());
  const invocations = envelopes.map((each) => Buffer.from(each.payload, "base64").toString());

  expect(invocations.length).toBe(1);
  expect(invocations[0]).toContain(`${first.graph}/build/1`);
});

test("an output of a pull request has no statement, and the response is the same as for an unknown output", async () => {
  const { digest } = await built("of a stranger\n", "refs/pull/7/head");

  expect(digest).toMatch(/^[0-9a-f]{64}/);
  expect((await ask(digest)).status).toBe(404);
  expect((await ask("0".repeat(64))).status).toBe(404);
});

test("an output that was changed in the run's row has no statement, and the run's own outputs have none until the row is corrected", async () => {
  const { graph, digest } = await built("signed\n");
  const { db } = farm.services;
  const evil = "e".repeat(64);
  const swap = (from: string, to: string) =>
    db.run(sql`
      update run set result = decode(replace(encode(result, 'hex'),
        encode(${from}::bytea, 'hex'), encode(${to}::bytea, 'hex')), 'hex') where graph_id = ${graph}`);
  const hash = digest.slice(0, 64);

  await swap(hash, evil);
  expect([(await ask(evil)).status, (await ask(hash)).status]).toEqual([404, 404]);
  await swap(evil, hash);
  expect((await ask(hash)).status).toBe(200);
});

test("a changed envelope, or one with another key id, is refused", async () => {
  const { digest } = await built("third\n");
  const { envelopes } = Provenance.parse(await (await ask(digest)).json());
  const [envelope] = envelopes;
  if (envelope === undefined) throw new Error("there is none");
  const { farmKey } = farm.services;
  const verify: typeof farmKey.verify = (...signed) => farmKey.verify(...signed);
  const said = Buffer.from(envelope.payload, "base64").toString();
  const other = Buffer.from(said.replace('"branch":"main"', '"branch":"mine"')).toString("base64");

  expect(openEnvelope(verify, envelope)).toBeDefined();
  expect(openEnvelope(verify, { ...envelope, payload: other })).toBeUndefined();
  expect(openEnvelope(verify, { ...envelope, payloadType: "text/plain" })).toBeUndefined();
  const signatures = [{ keyid: "0".repeat(16), sig: envelope.signatures[0]?.sig ?? "" }];
  expect(openEnvelope(verify, { ...envelope, signatures })).toBeUndefined();
});

test("`grange provenance FILE --check` accepts only the exact file and key", async () => {
  await built("by command\n");
  const [good, bad] = [join(farm.dataDir, "good"), join(farm.dataDir, "bad")];
  await writeFile(good, "by command\n");
  await writeFile(bad, "by somebody else\n");
  const run = (...args: string[]) =>
    startProgram(process.execPath, [grange, "provenance", ...args, "--server", farm.url]).finished;

  const [taken, refused, wrongKey] = await Promise.all([
    run(good, "--check"),
    run(bad, "--check"),
    run(good, "--check", "--key", `ed25519:${"A".repeat(43)}`),
  ]);

  expect(taken).toMatchObject({ code: 0 });
  expect(taken.stdout).toContain(`commit    ${commit} (main of `);
  expect(refused.code).not.toBe(0);
  expect(wrongKey.code).toBe(1);
  expect(wrongKey.stdout).toContain("NOT VALID");
});

test.each(["", "xyz", "../secrets", "0".repeat(63)])("%j is no digest", async (digest) => {
  expect((await ask(digest)).status).toBe(400);
});
