import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BreakableProxy, type Breakage, breakableProxy } from "../support/breakable-proxy.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const cases = [
  { how: "refusing", length: "shorter" },
  { how: "silent", length: "shorter" },
  { how: "refusing", length: "longer" },
  { how: "silent", length: "longer" },
  { how: "refusing", length: "until another worker has it" },
  { how: "silent", length: "until another worker has it" },
] as const;

const credentialOfRepository = (how: string, length: string) =>
  `${how}-${length.replaceAll(" ", "-")}`;

const lines = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);

/** One job for each case, on a worker whose network only this case uses. */
const definitions = `
version: 1
parameters:
  way: { type: string, default: none }
  try: { type: string, default: none }
jobs:
  talking:
    commands: i=1; while [ $i -le ${lines.length} ]; do echo "line $i"; i=$((i + 1)); sleep 0.1; done; echo made > out
    inputs: []
    outputs: [out]
    environment: { WAY: "\${parameters.way}", TRY: "\${parameters.try}" }
    platform: { way: "\${parameters.way}" }
`;

let farm: Farm;
let repository: SampleRepository;
const proxies = new Map<string, BreakableProxy>();

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm({ workers: 0 }),
    sampleRepository({ ".grange/farm.yml": definitions }),
  ]);
  for (const { how, length } of cases) {
    const way = credentialOfRepository(how, length);
    const proxy = await breakableProxy(farm.url);
    proxies.set(way, proxy);
    farm.startWorker({
      name: way,
      server: proxy.url,
      env: {
        GRANGE_WORKER_PLATFORM: `way=${way}`,
        // Three calls without response take nearly a default lease, and longer on a busy machine.
        ...(length === "shorter" ? { GRANGE_WORKER_LEASE_MS: "120000" } : {}),
      },
    });
  }
});
afterAll(async () => {
  await farm.stop();
  for (const proxy of proxies.values()) await proxy.close();
  await repository.remove();
});

/** Runs the case's job, and breaks the network after the job's first output. */
async function beginAndBreak(how: Breakage, length: string) {
  const way = credentialOfRepository(how, length);
  const proxy = proxies.get(way);
  if (proxy === undefined) throw new Error(`there is no worker for ${way}`);
  // A second try of the test must run the job, too, and not find its result in the cache.
  const parameters = { way, try: randomUUID() };
  const { id } = await farm.submit({ repository: repository.path, parameters });
  await farm.untilLogged(id, "talking", "line 3");
  proxy.break(how);
  return { id, proxy };
}

async function outcome(id: string) {
  const graph = await farm.untilOver(id);
  const { runList } = await farm.job(id, "talking");
  const log = await farm.log(id, "talking");
  const printed = log.split("\n").filter((line) => /^line \d+$/.test(line));
  return { state: graph.state, runList, printed };
}

test.concurrent.each(cases.filter(({ length }) => length === "shorter"))(
  "a network that is $how for less than a lease costs no attempt and no line of the log",
  async ({ how, length }) => {
    const { id, proxy } = await beginAndBreak(how, length);

    await proxy.tried(3);
    proxy.mend();

    expect(await outcome(id)).toMatchObject({
      state: "succeeded",
      runList: [{ number: 1, attempt: 1, outcome: "succeeded", outputs: [{ path: "out" }] }],
      printed: lines,
    });
  },
);

/** Resolves when the farm no longer shows the job as running. */
function untilLeaseIsOver(id: string) {
  return farm.until(id, ({ jobList: [job] }) => job?.state !== "running");
}

test.concurrent.each(cases.filter(({ length }) => length === "longer"))(
  "a network that is $how for more than a lease costs no attempt, when nobody else took the job",
  async ({ how, length }) => {
    const { id, proxy } = await beginAndBreak(how, length);

    await untilLeaseIsOver(id);
    proxy.mend();

    expect(await outcome(id)).toMatchObject({
      state: "succeeded",
      runList: [{ number: 1, cause: "first", attempt: 1, outcome: "succeeded" }],
      printed: lines,
    });
  },
);

test.concurrent.each(cases.filter(({ length }) => length.startsWith("until")))(
  "a network that is $how $length costs an attempt, and the late result is refused",
  async ({ how, length }) => {
    const { id, proxy } = await beginAndBreak(how, length);

    const way = credentialOfRepository(how, length);
    await untilLeaseIsOver(id);
    farm.startWorker({ name: `other-${way}`, env: { GRANGE_WORKER_PLATFORM: `way=${way}` } });
    await farm.until(id, ({ jobList: [job] }) => job?.state === "running");
    proxy.mend();

    expect(await outcome(id)).toMatchObject({
      state: "succeeded",
      // One run and one result: a lost attempt is not a separate run.
      runList: [{ number: 1, cause: "first", attempt: 2, outcome: "succeeded" }],
      printed: lines,
    });
  },
);
