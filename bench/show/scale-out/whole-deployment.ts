import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Bazel, bazelNeed, startBazel } from "../../../test/build-tools/bazel.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { checkHistory } from "../../../test/faults/history/history.ts";
import { observedLoad } from "../../../test/faults/history/observed-load.ts";
import { bucketServerNeed, startBucketServer } from "../../../test/support/bucket-server.ts";
import { haproxyBalancer, haproxyNeed } from "../../../test/support/haproxy-balancer.ts";
import { ccache as ccacheNeed } from "../../../test/support/needs/machine-needs.ts";
import {
  networkNamespaceNeeds,
  type OtherNetwork,
  otherNetwork,
} from "../../../test/support/network-namespace.ts";
import { runProgram } from "../../../test/support/process.ts";
import { startReplicatedPostgres } from "../../../test/support/replicated-postgres.ts";
import { type SeveralServers, severalServers } from "../../../test/support/several-servers.ts";
import { firstOf } from "../recovery/first-violation.ts";
import { requireNeeds } from "../require-needs.ts";
import { exactly, type Measurement, type Row } from "../row.ts";

const workers = 6;
const kills = 6;
/** The primary fails after this number of kills. */
const killsBeforeFailover = 3;
const killEveryMs = 20_000;
const withoutPrimaryMs = 1_000;
const bazelActions = 30;
const ccacheUnits = 5;

const targets = `
[genrule(
    name = "leaf%d" % i,
    srcs = ["round.txt"],
    outs = ["leaf%d.txt" % i],
    cmd = "sleep 0.2; (echo leaf %d; cat $(SRCS)) > $@" % i,
) for i in range(${bazelActions})]
`;

/** Everything of a large deployment at once, while its parts are killed. */
export const wholeDeployment: Measurement = {
  title: "three servers, a standby, a bucket, six workers and HAProxy, in network namespaces",
  long: true,
  async measure() {
    const needs = [bucketServerNeed, haproxyNeed, bazelNeed, ccacheNeed];
    requireNeeds([...needs, ...networkNamespaceNeeds()]);
    const ends: (() => Promise<unknown>)[] = [];
    const opened = async <T>(thing: Promise<T>, end: (it: T) => Promise<unknown>) => {
      const it = await thing;
      ends.push(() => end(it));
      return it;
    };
    try {
      return await measureDeployment(opened);
    } finally {
      for (const end of ends.toReversed()) await end();
    }
  },
};

type Opened = <T>(thing: Promise<T>, end: (it: T) => Promise<unknown>) => Promise<T>;

async function measureDeployment(opened: Opened): Promise<Row[]> {
  const bucket = await opened(startBucketServer(), (it) => it.stop());
  const database = await opened(startReplicatedPostgres(), (it) => it.stop());
  const network = () => opened(otherNetwork(), (it) => it.remove());
  const networks = await Promise.all(Array.from({ length: workers }, network));
  const clients = await network();
  const farm = await opened(
    severalServers(
      {
        GRANGE_DATABASE_URL: database.url,
        // Reached by the addresses of several networks, which a server on loopback would refuse as host names.
        GRANGE_HOST: "0.0.0.0",
        GRANGE_ACCESS: "open",
        GRANGE_ALLOW_OPEN: "1",
        GRANGE_STORE: `s3://${bucket.bucket}/${randomUUID()}`,
        GRANGE_STORE_ENDPOINT: bucket.endpoint.href,
        AWS_ACCESS_KEY_ID: bucket.accessKeyId,
        AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
      },
      () => haproxyBalancer("0.0.0.0"),
    ),
    (it) => it.stop(),
  );
  for (let count = 0; count < 3; count++) await farm.startServer();
  const { port } = new URL(farm.client.url);
  const addressIn = ({ address }: OtherNetwork) => `http://${address}:${port}`;
  networks.forEach((each, n) =>
    farm.startWorker(`worker-${n}`, { server: addressIn(each), within: each.within }),
  );
  const load = await opened(observedLoad(farm.client), (it) => it.remove());
  const ending = new AbortController();
  const building = [
    buildWithBazel(opened, clients, addressIn(clients), ending.signal),
    buildWithCcache(opened, clients, addressIn(clients), ending.signal),
  ];
  const submitting = submitUntil(load, ending.signal);
  await killInTurn(farm, database);
  ending.abort();
  const [bazel, ccache] = await Promise.all(building);
  await submitting;
  for (const { id } of load.graphs) await load.readToItsEnd(id);
  return rowsOf({
    bazel,
    ccache,
    graphs: load.graphs.length,
    violations: checkHistory(load.history),
  });
}

/** What one build tool saw. */
interface Builds {
  readonly rounds: number;
  /** The rounds with a request that a kill ended and that the tool does not repeat; they are not counted further. */
  readonly broken: number;
  /** The parts that the second build of a round did not find in the cache. */
  readonly misses: number;
  readonly failures: readonly string[];
}

async function submitUntil(
  load: Awaited<ReturnType<typeof observedLoad>>,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await load.submit();
    await delay(2_000, undefined, { signal: over }).catch(() => {});
  }
}

async function killInTurn(
  farm: SeveralServers,
  database: Awaited<ReturnType<typeof startReplicatedPostgres>>,
): Promise<void> {
  for (let count = 0; count < kills; count++) {
    await delay(killEveryMs);
    if (count === killsBeforeFailover) {
      await database.killPrimary();
      await delay(withoutPrimaryMs);
      await database.promote();
      await delay(killEveryMs);
    }
    const [first] = farm.servers;
    if (first === undefined) throw new Error("no server runs");
    await farm.endServer(first, "SIGKILL");
    await farm.startServer();
  }
}

/** Builds new actions with Bazel's default retries, and then the same again without what Bazel has kept. */
async function buildWithBazel(
  opened: Opened,
  network: OtherNetwork,
  url: string,
  over: AbortSignal,
): Promise<Builds> {
  const sources = { "rounds/BUILD": targets, "rounds/round.txt": "" };
  const workspace = await opened(bazelWorkspace(sources), (it) => it.remove());
  const bazel: Bazel = await opened(startBazel(workspace.path, network.within), (it) => it.close());
  const failures: string[] = [];
  let [rounds, misses] = [0, 0];
  const build = async () => {
    const { code, text, processes } = await bazel.run(
      "build",
      "//rounds:all",
      "--config=farm",
      "--jobs=8",
      `--remote_executor=${url.replace("http:", "grpc:")}`,
      "--remote_instance_name=deployment",
    );
    if (code !== 0) failures.push(/ERROR.*$/m.exec(text)?.[0] ?? `Bazel ended with ${code}`);
    return processes["remote cache hit"] ?? 0;
  };
  while (!over.aborted) {
    await workspace.write("rounds/round.txt", `${randomUUID()}\n`);
    const failedBefore = failures.length;
    await build();
    await bazel.run("clean");
    const hits = await build();
    if (failures.length === failedBefore) misses += bazelActions - hits;
    rounds++;
  }
  return { rounds, broken: 0, misses, failures };
}

async function buildWithCcache(
  opened: Opened,
  { within }: OtherNetwork,
  url: string,
  over: AbortSignal,
): Promise<Builds> {
  const directory = await opened(mkdtemp(join(tmpdir(), "grange-ccache-")), (it) =>
    rm(it, { recursive: true, force: true }),
  );
  const [ip = "", ...inNetwork] = within;
  const units = Array.from({ length: ccacheUnits }, (_, n) => `unit${n}.c`);
  const failures: string[] = [];
  let [rounds, misses, broken] = [0, 0, 0];
  const build = async () => {
    const local = join(directory, "ccache");
    await rm(local, { recursive: true, force: true });
    await mkdir(local);
    const env = {
      CCACHE_DIR: local,
      CCACHE_REMOTE_ONLY: "1",
      CCACHE_REMOTE_STORAGE: `${url}/cache/default/ccache|layout=subdirs`,
    };
    const run = (...args: string[]) =>
      runProgram(ip, [...inNetwork, "ccache", ...args], { cwd: directory, env });
    for (const unit of units) {
      const { code, stderr } = await run("gcc", "-c", unit, "-o", `${unit}.o`);
      if (code !== 0) failures.push(`ccache: ${stderr.trim()}`);
    }
    const { stdout } = await run("--print-stats");
    const count = (name: string) => Number(new RegExp(`^${name}\\t(\\d+)`, "m").exec(stdout)?.[1]);
    return {
      misses: count("cache_miss"),
      broken: count("remote_storage_error") + count("remote_storage_timeout"),
    };
  };
  while (!over.aborted) {
    const value = `${Date.now()}`;
    for (const [n, unit] of units.entries())
      await writeFile(join(directory, unit), `long unit${n}(void) { return ${value}L; }\n`);
    const [first, second] = [await build(), await build()];
    // ccache does not repeat a request whose server was killed; it compiles and stores nothing.
    if (first.broken + second.broken > 0) broken++;
    else misses += second.misses;
    rounds++;
    await delay(1_000, undefined, { signal: over }).catch(() => {});
  }
  return { rounds, broken, misses, failures };
}

function rowsOf(seen: {
  readonly bazel: Builds | undefined;
  readonly ccache: Builds | undefined;
  readonly graphs: number;
  readonly violations: ReturnType<typeof checkHistory>;
}): Row[] {
  const { bazel, ccache, graphs, violations } = seen;
  if (bazel === undefined || ccache === undefined) throw new Error("a build tool did not run");
  if (ccache.broken === ccache.rounds) throw new Error("ccache reached the farm in no round");
  const failures = [...bazel.failures, ...ccache.failures];
  const how =
    `each worker, and the build tools, in a network of their own, connected to HAProxy only; a server killed every ${killEveryMs / 1_000} s, ${kills} in all, ` +
    `the primary killed once and its synchronous standby promoted after ${withoutPrimaryMs / 1_000} s; meanwhile ${graphs} graphs, ` +
    `${bazel.rounds} rounds of ${bazelActions} actions by Bazel with its default retries, ${ccache.rounds} of ${ccacheUnits} files by ccache, each built twice` +
    ` (in ${ccache.broken} of them a kill ended a request, which ccache does not repeat)`;
  return [
    exactly("promises broken", violations.length, 0, "", `${how}${firstOf(violations)}`),
    exactly("builds that failed", failures.length, 0, "", `${how}${textOfFailures(failures)}`),
    exactly("actions of Bazel that a second build did not find", bazel.misses, 0, "", how),
    exactly("files that a second build by ccache did not find", ccache.misses, 0, "", how),
  ];
}

/** Returns each different message once, with how often it was seen. */
function textOfFailures(failures: readonly string[]): string {
  return [...new Set(failures)]
    .map((each) => `; ${failures.filter((other) => other === each).length} × ${each}`)
    .join("");
}
