import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { sandboxNeed } from "../support/needs/machine-needs.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

// SLSA 1.2, Build L3, "Isolated", for keys outside of the data directory: jobs run as the worker's user, who may be the
// server's.

const minute = 60_000;
const tokenInEnvironment = "sentinel-of-the-worker-4711";

let folder: string | undefined;
let farm: Farm;
let repository: SampleRepository;

/**
 * Returns a directory of the host that jobs see; they never see files below /tmp, /home or /root.
 */
async function visibleFolder(): Promise<string | undefined> {
  for (const place of ["/opt", "/usr/local"]) {
    const made = await mkdtemp(join(place, "grange-keys-")).catch(() => undefined);
    if (made !== undefined) return realpath(made);
  }
  return undefined;
}

beforeAll(async () => {
  const made = await visibleFolder();
  if (made === undefined) return;
  folder = made;
  // All users may read the directory, also the user of jobs: the test shows that the worker hides
  // the keys.
  await chmod(made, 0o755);
  const keyOf = (name: string) => join(made, name);
  await promisify(execFile)("openssl", [
    ..."genpkey -algorithm ed25519 -out".split(" "),
    keyOf("of-the-farm.pem"),
  ]);
  await writeFile(keyOf("of-secrets"), `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  await writeFile(keyOf("of-the-worker"), "not used, and not to be read");
  await writeFile(keyOf("for-everybody"), "what anybody may read");
  await mkdir(keyOf("links"));
  await symlink(keyOf("of-secrets"), keyOf("links/key"));
  repository = await sampleRepository({ "source.txt": "as it was committed\n" });
  farm = await startFarm({
    workers: 0,
    env: {
      GRANGE_FARM_KEY: keyOf("of-the-farm.pem"),
      GRANGE_SECRETS_KEY: keyOf("links/key"),
    },
  });
  // The worker knows these keys only because they are in a data directory that contains its own.
  farm.startWorker({
    env: {
      GRANGE_TLS_KEY: keyOf("of-the-worker"),
      GRANGE_TEST_SENTINEL: tokenInEnvironment,
    },
  });
}, minute);
afterAll(async () => {
  await farm?.stop();
  await repository?.remove();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, minute);

test("a job sees neither keys that server or worker read from elsewhere, nor their environment", async (context) => {
  skipWithout(context, {
    name: "a directory that jobs see",
    missing: folder === undefined ? "this user may write to none" : undefined,
    remedy: { kind: "root" },
  });
  const commands = [
    "set +eu",
    `for f in ${folder}/* ${folder}/links/*; do echo "$f: [$(cat $f 2>/dev/null)]"; done`,
    "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; env",
    "echo looked everywhere",
  ];
  const { id } = await farm.submit({
    repository: repository.path,
    definitions: {
      "farm.yml": JSON.stringify({
        version: 1,
        jobs: { looks: { commands, inputs: [] } },
      }).replaceAll("${", () => "$${"),
    },
  });
  await farm.untilOver(id);
  const workers = (await (await fetch(`${farm.url}/api/v1/workers`)).json()) as {
    facilities: Record<string, string>;
  }[];
  const sandbox = workers[0]?.facilities["sandbox"] ?? "none";
  skipWithout(context, sandboxNeed(sandbox));

  const printed = (await farm.log(id, "looks"))
    .split("\n")
    .filter((line) => !/^(\$| {2})/.test(line));
  expect(printed).toEqual(
    expect.arrayContaining([
      `${folder}/for-everybody: [what anybody may read]`,
      `${folder}/of-the-farm.pem: []`,
      `${folder}/of-secrets: []`,
      `${folder}/links/key: []`,
      "looked everywhere",
    ]),
  );
  expect(printed.join("\n")).not.toContain(tokenInEnvironment);
});
