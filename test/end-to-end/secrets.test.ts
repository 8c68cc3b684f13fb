import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "#api/secret.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const token = "npm_0123456789abcdefXYZ";
const definitions = `
version: 1
jobs:
  publish:
    commands:
      - cat $GRANGE_SECRETS/NPM_TOKEN; echo
      - base64 < $GRANGE_SECRETS/NPM_TOKEN
      - sha256sum < $GRANGE_SECRETS/NPM_TOKEN > out
    inputs: []
    outputs: [out]
    secrets: NPM_TOKEN
`;

let farm: FarmHere;
let repository: SampleRepository;
beforeAll(async () => {
  farm = await startFarmHere();
  repository = await sampleRepository({ ".grange/farm.yml": definitions });
});
afterAll(async () => {
  await farm?.stop();
  await repository?.remove();
});

const set = async (value: string, branch = "release") => {
  const answer = await farm.ask("/secrets", {
    name: "NPM_TOKEN",
    repository: "*",
    branch,
    value: Buffer.from(value).toString("base64"),
  });
  return Secret.parse(await answer.json());
};
const run = async (branch: string, ref?: string) => {
  const graph = await farm.submit(
    { repository: repository.path, branch },
    ref === undefined ? {} : { ref },
  );
  await farm.over(graph);
  const { runList } = await farm.job(graph, "publish");
  return { graph, run: runList[0] };
};

test("a job on a branch with permission for a secret gets it as a file; its log shows stars", async () => {
  await set(token);

  const { graph, run: first } = await run("release");

  expect(first).toMatchObject({ outcome: "succeeded" });
  const log = await farm.log(graph, "publish");
  expect(log).toContain("\n***\n");
  expect(log).not.toContain(token);
  expect(log).not.toContain(Buffer.from(token).toString("base64").slice(0, 12));
});

test("another value makes another action; the same value is a cache hit", async () => {
  const again = await run("release");
  const other = await set("npm_another_value_of_it");
  const anew = await run("release");

  expect(again.run).toMatchObject({ outcome: "succeeded", cachedFrom: { job: "publish" } });
  expect(other.version).toBeGreaterThan(1);
  expect(anew.run).toMatchObject({ outcome: "succeeded", cachedFrom: null });
});

test("a branch without permission is refused with the secret's name, even if a result exists", async () => {
  const { run: refused } = await run("main");

  expect(refused).toMatchObject({ outcome: "failed" });
  expect(refused?.message).toContain("the secret NPM_TOKEN is not available to runs on main of");
});

test("a pull request is refused, even if its branch has the same name", async () => {
  await set("for every branch there is", "*");

  const { run: refused } = await run("release", "refs/pull/7/head");

  expect(refused).toMatchObject({ outcome: "failed" });
  expect(refused?.message).toContain("never available to a pull request (on release of");
});

test("no caller can read a value over the API, and a list contains no values", async () => {
  const listed = await (await farm.ask("/secrets")).text();

  expect(listed).toContain("NPM_TOKEN");
  expect(listed).not.toContain(token);
  expect(listed).not.toContain(Buffer.from(token).toString("base64"));
  expect((await farm.ask("/secrets/NPM_TOKEN")).status).toBe(404);
});
