import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type BuiltImage, buildImage } from "../../scripts/image/build-image.ts";
import { grangeFiles } from "../../scripts/image/grange-files.ts";
import { OciLayout } from "../../scripts/image/oci-layout.ts";
import { alerts } from "../../scripts/monitoring/alerts.ts";
import { panelRows } from "../../scripts/monitoring/panels.ts";
import { type FakeKubernetes, startFakeKubernetes } from "../support/fake-kubernetes.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { bubblewrap } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { type Program, startProgram } from "../support/process.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const checkout = join(import.meta.dirname, "..", "..");

const Ready = z.object({ ready: z.literal(true), url: z.url() });
const databaseUrl = await freshDatabase();

const definitions =
  "version: 1\njobs:\n  greet:\n    commands: [id -u, test ! -e /tmp/other, echo hello]\n";
const socketDirectory = new URL(databaseUrl).searchParams.get("host") ?? "/tmp";

describe("the container image", needs(bubblewrap), () => {
  let scratch: string;
  let image: BuiltImage;
  let root: string;
  let server: Program;
  let url: string;
  let token: string;
  let serverData: string;
  let repository: SampleRepository;
  let kubernetes: FakeKubernetes;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "grange-image-test-"));
    image = await buildImage({
      checkout,
      directory: join(scratch, "image"),
      name: "grange:test",
      base: undefined,
      programs: [],
      registries: [],
      credentials: new Map(),
    });
    root = join(scratch, "root");
    await mkdir(root);
    for (const { mediaType, digest } of image.blobs)
      if (mediaType.endsWith("tar+gzip"))
        execFileSync("tar", ["-xzf", image.layout.pathOf(digest), "-C", root, "--no-same-owner"]);
    repository = await sampleRepository({ ".grange/farm.yml": definitions });
    const config = await configOf(image);
    serverData = join(scratch, "server-data");
    await mkdir(serverData);
    server = startProgram(
      "bwrap",
      inContainer(config, {
        data: serverData,
        words: [...config.Cmd, "--port", "0"],
        // The database of the tests listens on a socket in /tmp.
        shown: [socketDirectory, repository.path],
      }),
    );
    const line = await server.line((text) => text.includes('"ready"'));
    const ready = Ready.parse(JSON.parse(line));
    url = ready.url.replace("0.0.0.0", "127.0.0.1");
    token = (await readFile(join(serverData, "server", "owner-token"), "utf8")).trim();
    kubernetes = await startFakeKubernetes("farm");
  });
  afterAll(async () => {
    server?.signal("SIGTERM");
    await server?.finished;
    await kubernetes?.stop();
    await repository?.remove();
    await rm(scratch, { recursive: true, force: true });
  });

  /** Returns the command line of bwrap that runs the image as a container runtime would, with a read-only root. */
  function inContainer(
    config: ContainerConfig,
    { data, words, shown }: { data: string; words: readonly string[]; shown: readonly string[] },
  ): string[] {
    const dataPlace = "/var/lib/grange";
    const [user = "", group = ""] = config.User.split(":");
    const options = [
      `--ro-bind ${root} / --bind ${data} ${dataPlace}`,
      "--proc /proc --dev /dev --tmpfs /tmp --unshare-user --unshare-pid --die-with-parent",
      ...shown.map((path) => `--ro-bind ${path} ${path}`),
      `--uid ${user} --gid ${group} --clearenv --chdir ${config.WorkingDir}`,
    ].flatMap((line) => line.split(" "));
    const variables = [...config.Env, `GRANGE_DATABASE_URL=${databaseUrl}`].flatMap((pair) => {
      const [name = "", ...value] = pair.split("=");
      return ["--setenv", name, value.join("=")];
    });
    return options.concat(variables, config.Entrypoint, words);
  }

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });

  test("starts a private farm as an ordinary user, on a read-only root", async () => {
    const readiness = await fetch(`${url}/readyz`);
    const withoutToken = await fetch(`${url}/api/v1/graphs`);
    const withToken = await call("/api/v1/graphs");
    const byOtherName = await statusAt(url, { host: "server:8980" });

    expect(readiness.status).toBe(200);
    expect(withoutToken.status).toBe(403);
    expect(withToken.status).toBe(200);
    // The name that workers in the same network of containers use.
    expect(byOtherName).toBe(200);
  });

  test("has Git with HTTPS, and serves the pages and the documents", async () => {
    const pages = await fetch(url);
    const documents = await fetch(`${url}/docs/deployment.html`);
    const helper = join(root, execFileSync("git", ["--exec-path"]).toString().trim());

    expect(await pages.text()).toContain("<title>");
    expect(documents.status).toBe(200);
    expect(execFileSync("ls", [helper]).toString()).toContain("git-remote-https");
  });

  test("has a worker that runs a job in a sandbox of its own", async () => {
    const data = join(scratch, "worker-data");
    await mkdir(data);
    const tokenFile = join(serverData, "server", "worker-token");
    const words = ["worker", `--server=${url}`, `--token-file=${tokenFile}`, "--name=contained"];
    const worker = startProgram(
      "bwrap",
      inContainer(await configOf(image), { data, words, shown: [tokenFile] }),
    );
    try {
      const submitted = await runGrange(
        ["submit", "--repo", repository.path, "--wait", "--json", "--server", url],
        { env: { GRANGE_TOKEN: token } },
      );
      const workers = await (await call("/api/v1/workers")).json();

      expect(submitted).toMatchObject({ code: 0 });
      expect(workers).toMatchObject([{ name: "contained" }]);
      expect(JSON.stringify(workers)).toMatch(/bubblewrap/);
    } finally {
      worker.signal("SIGTERM");
      await worker.finished;
    }
  });

  test("has the same bytes when the same files are packed again, in any order", async () => {
    const config = await configOf(image);
    const directory = join(scratch, "again");
    await mkdir(directory);
    const again = await OciLayout.create(directory);
    const { entries } = await grangeFiles(checkout);

    const layer = await again.addLayer(entries.toReversed(), image.created);

    expect(image.blobs.map(({ digest }) => digest)).toContain(layer.digest);
    expect(config).toMatchObject({ User: "65532:65532", Cmd: ["server"] });
  });

  test("has each metric that the dashboard and the alerts name", async () => {
    const scraped = await (await call("/metrics")).text();
    const exported = new Set(
      Array.from(scraped.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", kind = ""]) =>
        kind === "counter" ? [`${name}_total`] : kind === "histogram" ? [`${name}_bucket`] : [name],
      ).flat(),
    );
    const expressions = [
      ...alerts.map(({ expr }) => expr),
      ...panelRows.flatMap(({ panels }) =>
        panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)),
      ),
    ];
    const named = expressions.flatMap(
      (expr) => expr.match(/\b(?:grange|process|nodejs)_\w+/g) ?? [],
    );

    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  });

  test("`grange autoscaling kubernetes` sets replicas, and marks surplus pods", async () => {
    const platform = { OSFamily: "linux", ISA: "x86-64" };
    const declared = await call("/api/v1/declared-classes", {
      method: "PUT",
      body: JSON.stringify({ platform, sizeClass: 2, leastWorkers: 3, mostWorkers: 10 }),
    });
    const annotations = {
      "grange/platform": "OSFamily=linux,ISA=x86-64",
      "grange/size-class": "2",
    };
    const labels = { "grange/workers": "true" };
    const spec = () => ({ replicas: 1, selector: { matchLabels: { group: "small" } } });
    kubernetes.deployments.set("small", {
      metadata: { name: "small", labels, annotations },
      spec: spec(),
    });
    kubernetes.deployments.set("unknown", {
      metadata: {
        name: "unknown",
        labels,
        annotations: { ...annotations, "grange/size-class": "9" },
      },
      spec: spec(),
    });
    kubernetes.deployments.set("other", {
      metadata: { name: "other", labels: {}, annotations },
      spec: spec(),
    });
    kubernetes.pods.set("small-a", {
      metadata: {
        name: "small-a",
        labels: { group: "small" },
        annotations: { "controller.kubernetes.io/pod-deletion-cost": "-1" },
      },
      spec: {},
    });
    const words = ["autoscaling", "kubernetes", "--namespace", "farm"];
    const at = ["--api-server", kubernetes.url, "--server", url];
    const env = { GRANGE_TOKEN: token };

    const shown = await runGrange([...words, ...at, "--dry-run"], { env });
    const before = kubernetes.deployments.get("small")?.spec["replicas"];
    const done = await runGrange([...words, ...at, "--once"], { env });

    expect(declared.status).toBe(200);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("small: 1 -> 3 replicas");
    expect(before).toBe(1);
    expect(done.stdout).toContain("unknown: the farm has no size class 9 of this platform");
    expect(kubernetes.deployments.get("small")?.spec["replicas"]).toBe(3);
    expect(kubernetes.deployments.get("unknown")?.spec["replicas"]).toBe(1);
    expect(kubernetes.deployments.get("other")?.spec["replicas"]).toBe(1);
    // The farm does not know this worker: its earlier mark is removed.
    expect(kubernetes.pods.get("small-a")?.metadata.annotations).toEqual({
      "controller.kubernetes.io/pod-deletion-cost": "0",
    });
  });
});

/** Node's fetch sends no other name of the host. */
function statusAt(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
}

interface ContainerConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
}

async function configOf({ layout, blobs }: BuiltImage): Promise<ContainerConfig> {
  const blob = blobs.find(({ mediaType }) => mediaType.includes("config"));
  const text = await readFile(layout.pathOf(blob?.digest ?? ""), "utf8");
  return (JSON.parse(text) as { config: ContainerConfig }).config;
}
