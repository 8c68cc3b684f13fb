import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";

/** The modules of `src/`, and the modules that each may import. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  proto: [],
  // Fair order among connections, and limits of concurrency.
  scheduling: ["core"],
  // Spans of OpenTelemetry.
  tracing: ["core"],
  // Locks, and processes on this machine; used by all modules that start processes.
  machine: ["core"],
  api: ["core"],
  db: ["core", "machine"],
  // `proto` for the outputs of results, which provenance statements describe; `machine` to sync key files.
  access: ["core", "machine", "db", "proto"],
  // `machine` for the program that syncs a file system.
  cas: ["core", "scheduling", "machine", "proto"],
  // `tracing`: calls carry the span of the work that makes them.
  grpc: ["core", "scheduling", "proto", "cas", "tracing"],
  // Calls to other hosts: which addresses they may have.
  outgoing: ["core"],
  // `machine` to sync new mirrors.
  git: ["core", "outgoing", "scheduling", "machine", "db", "cas", "proto"],
  actions: ["core", "scheduling", "db", "cas", "proto"],
  execution: ["core", "db", "cas", "actions", "proto"],
  "size-classes": ["core", "api", "db", "execution", "proto"],
  // Runs size-class strategies on traces, without a farm.
  simulate: ["core", "size-classes"],
  statistics: ["core"],
  // Defines what is measured of an artifact, and how. The API returns the effect of balancing sets.
  suites: ["core", "api"],
  // One hardened Git client for all modules that use Git.
  artifacts: ["core", "outgoing", "machine", "suites", "git"],
  comparison: ["core", "api", "statistics"],
  measuring: ["core", "machine", "suites", "artifacts", "statistics", "comparison"],
  perf: ["core", "api", "db", "suites", "artifacts", "statistics", "comparison", "git"],
  // A separate kind of worker: it uses the API, and never accesses the database.
  collector: ["core", "api", "machine", "suites", "artifacts", "comparison", "measuring"],
  // Caches for build tools, and the cache protocols, which a farm or a granary serves.
  caches: [
    "core",
    "scheduling",
    "api",
    "db",
    "access",
    "actions",
    "cas",
    "grpc",
    "invocations",
    "proto",
  ],
  graphs: [
    "core",
    "outgoing",
    "definitions",
    "scheduling",
    "api",
    "db",
    "access",
    "cas",
    "git",
    "actions",
    "execution",
    "proto",
    "tracing",
  ],
  // Backfills and bisections: they use the module `graphs`, which does not depend on them.
  searches: ["core", "api", "db", "access", "git", "execution", "graphs"],
  invocations: ["core", "scheduling", "api", "db", "cas", "actions", "execution", "proto"],
  // The index of a commit's requests: pure code, shared by the farm and granaries.
  "commit-index": ["core", "scheduling", "api", "cas", "proto"],
  // The server's part of granaries.
  granaries: [
    "core",
    "scheduling",
    "api",
    "db",
    "cas",
    "actions",
    "caches",
    "commit-index",
    "grpc",
    "proto",
  ],
  // A cache on one machine, in front of a farm: it never accesses the database.
  granary: [
    "core",
    "scheduling",
    "api",
    "access",
    "machine",
    "git",
    "cas",
    "actions",
    "caches",
    "commit-index",
    // The variable that names the cache of a build.
    "go-cache",
    "grpc",
    "proto",
    "tracing",
  ],
  // The syntax of `.grange/*.yml`, and the catalog of jobs that is made from it: no database.
  definitions: ["core", "scheduling", "api", "cas", "git", "images"],
  // Generates first definitions for a repository from its files: pure. `git` for its globs, `images` for names of
  // container images.
  init: ["core", "git", "images"],
  // Registries of container images.
  images: ["core", "outgoing"],
  worker: [
    "core",
    "outgoing",
    "images",
    "scheduling",
    "machine",
    "cas",
    "proto",
    "grpc",
    "tracing",
  ],
  // The program that GOCACHEPROG names. It speaks HTTP to a granary or a farm, and knows nothing of them.
  "go-cache": ["core"],
  // A small client of the Remote Execution API; the demo uses it.
  "build-client": ["core", "cas", "proto", "grpc"],
  // Sessions of people, and their sign-in at identity providers.
  "sign-in": ["core", "api", "db", "access"],
  // Copies of a farm in a directory, and their restoration; the server reports the latest copy.
  backup: ["core", "scheduling", "machine", "db", "cas"],
  // Connects to hosts of commits and pull requests. It uses the farm through interfaces.
  forge: ["core", "outgoing", "api", "db", "access", "git", "comparison"],
  server: [
    "core",
    "outgoing",
    "images",
    "definitions",
    "scheduling",
    "api",
    "machine",
    "db",
    "machine",
    "access",
    "cas",
    "git",
    "actions",
    "execution",
    "size-classes",
    "simulate",
    "statistics",
    "suites",
    "artifacts",
    "perf",
    "comparison",
    "caches",
    "commit-index",
    "granaries",
    "graphs",
    "searches",
    "invocations",
    "sign-in",
    "forge",
    "backup",
    "proto",
    "grpc",
    "tracing",
  ],
  // Runs jobs of a checkout on this machine as a worker does, without a farm.
  "local-run": [
    "core",
    "definitions",
    "scheduling",
    "api",
    "machine",
    "cas",
    "git",
    "actions",
    "graphs",
    "worker",
    "proto",
  ],
  // `server`, `worker`, `run`, `doctor` and `init` start or call these modules; other commands use the API. `grpc` for
  // the trusted certificates under TLS, which the API's client reads in the same way.
  cli: [
    "core",
    "definitions",
    "api",
    "db",
    "git",
    "graphs",
    "grpc",
    "machine",
    "simulate",
    "server",
    "worker",
    "suites",
    "artifacts",
    "measuring",
    "comparison",
    "collector",
    "go-cache",
    "granary",
    "local-run",
    "build-client",
    "init",
    // `backup` and `restore` work without a server.
    "backup",
    // To open an envelope: the command checks the server's signature.
    "access",
    // To check the digests of blobs that a command reads, and to decode trees of inputs.
    "cas",
    "proto",
    "tracing",
  ],
};

/** The module that owns each table. Only its stores contain SQL for the table. */
const ownerOf: Record<string, string> = {
  migration: "db",
  backup: "backup",
  ...Object.fromEntries(
    [
      "forge_repository",
      "forge_delivery",
      "forge_redelivery",
      "forge_delivery_mark",
      "forge_graph",
      "forge_ref",
      "forge_pull",
      "forge_comment",
      "forge_outbox",
      "forge_subject",
    ].map((table) => [table, "forge"]),
  ),
  ...Object.fromEntries(
    ["session", "sign_in_attempt", "sign_in_code", "identity", "trusted_issuer"].map((table) => [
      table,
      "sign-in",
    ]),
  ),
  worker: "execution",
  execution: "execution",
  execution_attempt: "execution",
  execution_span: "execution",
  expected_duration: "execution",
  expected_duration_mark: "execution",
  drain: "execution",
  // The size-class decisions for executions in the queue; the module size-classes interprets them.
  size_class_decision: "execution",
  log_chunk: "execution",
  size_class: "size-classes",
  size_class_settings: "size-classes",
  size_class_lesson: "size-classes",
  size_class_key: "size-classes",
  size_class_history: "size-classes",
  ...Object.fromEntries(
    [
      "benchmark_suite",
      "benchmark_suite_version",
      "benchmark_metric",
      "benchmark_artifact",
      "benchmark_request",
      "benchmark_request_job",
      "benchmark_environment",
      "collector",
      "benchmark_job",
      "benchmark_case",
      "benchmark_collection",
      "benchmark_result",
      "benchmark_pair",
      "benchmark_error",
      "benchmark_report",
      "benchmark_change_point",
      "benchmark_search",
      "collector_self_test",
      "benchmark_noise",
      "benchmark_leader",
      "benchmark_unexamined",
      "benchmark_alarm",
      "benchmark_measured",
    ].map((table) => [table, "perf"]),
  ),
  action_result: "actions",
  result_adoption: "actions",
  cache_entry: "caches",
  ...Object.fromEntries(
    ["bucket_namespace", "bucket_blob", "bucket_object", "bucket_upload"].map((table) => [
      table,
      "server",
    ]),
  ),
  cache_use: "caches",
  commit_index: "granaries",
  granary_build: "granaries",
  hourly_count: "granaries",
  quarantined_result: "granaries",
  git_object: "git",
  secret: "access",
  provenance_subject: "access",
  provenance_mark: "access",
  identity_key: "access",
  principal: "access",
  enrolment: "access",
  begun_project: "access",
  worker_offence: "access",
  token: "access",
  grant_rule: "access",
  access_choice: "access",
  role: "access",
  share_link: "access",
  signing_key: "access",
  signature: "access",
  repository: "graphs",
  definition: "graphs",
  catalog: "graphs",
  catalog_entry: "graphs",
  catalog_source: "graphs",
  branch_catalog: "graphs",
  branch_definition: "graphs",
  graph: "graphs",
  graph_span: "graphs",
  retention_rule: "graphs",
  retention_hold: "graphs",
  retention_age: "server",
  store_round: "server",
  job: "graphs",
  edge: "graphs",
  approximation: "graphs",
  run: "graphs",
  audit_entry: "access",
  child_graph: "graphs",
  notification: "graphs",
  chunked_run: "graphs",
  work_item: "graphs",
  work_batch: "graphs",
  item_history: "graphs",
  rollup_mark: "graphs",
  job_history: "graphs",
  time_histogram: "graphs",
  graph_times: "graphs",
  metric_definition: "graphs",
  range_search: "searches",
  range_commit: "searches",
  run_report: "graphs",
  invocation: "invocations",
  operation: "invocations",
  cache_lookup: "invocations",
  build: "invocations",
  build_target: "invocations",
  build_test: "invocations",
  build_file_set: "invocations",
  build_log: "invocations",
};

interface Source {
  readonly name: string;
  readonly module: string;
  readonly text: string;
}

async function sourcesBelow(folder: URL): Promise<Source[]> {
  const names = (await readdir(folder, { recursive: true })).filter(
    // Code that tests share is beside the sources, too: `*.fixture.ts`.
    (name) => /\.tsx?$/.test(name) && !/\.(test|fixture)\.tsx?$/.test(name),
  );
  return Promise.all(
    names.map(async (name) => ({
      name,
      module: name.split("/")[0] ?? "",
      text: await readFile(new URL(name, folder), "utf8"),
    })),
  );
}

const sources = await sourcesBelow(new URL("../src/", import.meta.url));
const pages = await sourcesBelow(new URL("../web/", import.meta.url));

function doorsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*"#([a-z-]+)\//g)].map((match) => match[1] ?? "");
}

test("every module of src is listed", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(pages.length).toBeGreaterThan(10);
  expect(new Set(sources.map((s) => s.module))).toEqual(new Set(Object.keys(mayImport)));
});

test("each import is allowed", () => {
  const strays = sources.flatMap(({ name, module, text }) =>
    doorsOf(text)
      .filter((other) => other !== module && !mayImport[module]?.includes(other))
      .map((other) => `${name} imports #${other}`),
  );

  expect(strays).toEqual([]);
});

test("modules do not import each other in a cycle", () => {
  const over = new Set<string>();
  const circles: string[] = [];
  const visit = (module: string, path: readonly string[]) => {
    if (path.includes(module)) circles.push([...path, module].join(" → "));
    else if (!over.has(module))
      for (const next of mayImport[module] ?? []) visit(next, [...path, module]);
    over.add(module);
  };
  for (const module of Object.keys(mayImport)) visit(module, []);

  expect(circles).toEqual([]);
});

test.each(["core", "api"])("%s runs anywhere, the browser too", (module) => {
  const strays = sources.filter((s) => s.module === module && /from "node:/.test(s.text));

  expect(strays.map((s) => s.name)).toEqual([]);
});

test("pages import the API and no other module of the server", () => {
  const strays = pages.flatMap(({ name, text }) =>
    doorsOf(text)
      .filter((other) => other !== "core" && other !== "api")
      .map((other) => `web/${name} imports #${other}`),
  );

  expect(strays).toEqual([]);
});

test("no relative import leaves its module", () => {
  const strays = sources.filter(({ name, text }) => {
    const depth = name.split("/").length - 2;
    return new RegExp(`from "(\\.\\./){${depth + 1}}`).test(text);
  });

  expect(strays.map((s) => s.name)).toEqual([]);
});

describe("tables", () => {
  const statements = sources
    .filter(({ module }) => module !== "proto")
    .flatMap(({ name, module, text }) =>
      [...text.matchAll(/sql`([^`]*)`/g)].map((match) => ({ name, module, text: match[1] ?? "" })),
    );

  test("are used in statements that this test can find", () => {
    expect(statements.length).toBeGreaterThan(40);
  });

  test("are used only by the module that owns them", () => {
    const strays = statements.flatMap(({ name, module, text }) =>
      [...text.matchAll(/\b(?:from|into|update|join)\s+([a-z_]+)/g)]
        .map((match) => match[1] ?? "")
        .filter((table) => Object.hasOwn(ownerOf, table) && ownerOf[table] !== module)
        .map((table) => `${name} touches ${table}`),
    );

    expect(strays).toEqual([]);
  });

  test("are used only in stores, apart from the module db", () => {
    const strays = statements.filter(
      ({ name, module }) => module !== "db" && !name.endsWith(".store.ts"),
    );

    expect([...new Set(strays.map((s) => s.name))]).toEqual([]);
  });
});

test("only configuration modules read the environment", () => {
  const strays = sources.filter(
    ({ name, text }) => /process\.env\b/.test(text) && !/(^|\/)config\.ts$/.test(name),
  );

  expect(strays.map((s) => s.name)).toEqual([]);
});
