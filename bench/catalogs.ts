/**
 * Catalogs of many definitions: how long the farm needs to read one, to detect that nothing changed, to read one
 * changed file of it, and to preview its graph. `npx tsx bench/catalogs.ts` takes about a minute.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { everybody } from "#access/principal.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Db } from "#db/db.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { openMirrors } from "#git/fetch-commit.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { openGit } from "#git/run-git.ts";
import { resolveBranch } from "#graphs/catalogs/branch-definition.ts";
import { CatalogCache } from "#graphs/catalogs/catalog-cache.ts";
import { graphDefinitions } from "#graphs/catalogs/graph-definitions.ts";
import { type PreviewServices, previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { pushCatalog } from "#graphs/catalogs/push-catalog.ts";
import { CommitInputReader } from "#graphs/commit-inputs.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { wholeGraph } from "#graphs/graph-page.store.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { repositoryAccess } from "#graphs/repository-access.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import { withBenchDatabase } from "./bench-database.ts";
import { quantile } from "./show/quantile.ts";

interface CatalogFigures {
  readonly definitions: number;
  readonly megabytes: number;
  /** From the commit to the catalog's digest, without cached data. */
  readonly coldReadMs: number;
  readonly storeMs: number;
  /** The next commit, which changes no definition. */
  readonly noChangeMs: number;
  /** One of the files has changed. */
  readonly oneFileReadMs: number;
  readonly oneFileStoreMs: number;
}

interface PreviewFigures {
  readonly jobs: number;
  /** Directly after the push, as the person who pushed it sees it: the median of five pushes of changed definitions. */
  readonly afterPushMs: number;
  /** The same catalog for another branch. */
  readonly otherBranchMs: number;
  readonly sameAgainMs: number;
  /** With a server that has just started. */
  readonly afterRestartMs: number;
  /** From the push of a changed definition to the graph that a page shows, of 1,000 jobs. */
  readonly changeToGraphMs: number;
}

const jobsInAFile = 100;

/** A file of jobs as they are written in a large project; every tenth file has other texts. */
function definitionFile(file: number, edition = 0): string {
  const jobs = Array.from({ length: jobsInAFile - 1 }, (_, job) =>
    [
      `  suite-${file}/test-${job}:`,
      `    description: Test number ${job} of suite ${file}, edition ${edition}`,
      "    commands:",
      `      - ./configure --enable-tests --suite=${file}`,
      `      - ./run-tests --chunk ${job} --branch "\${branch}" --level \${parameters.level}`,
      `    inputs: [src/suite-${file}, test/common, "*.json", "!**/*.md"]`,
      `    outputs: results/${file}-${job}.xml`,
      "    needs:",
      `      build/${file}: { outputs: dist, at: build }`,
      "    platform: { OSFamily: linux, arch: x86-64 }",
      "    limits: { cpus: 2, memory: 1GiB }",
      "    timeout: 20m",
      "    retries: 1",
      `    tags: { kind: test, suite: suite-${file}, platform: linux64, pgo: "true" }`,
    ].join("\n"),
  );
  const top = file === 0 ? "version: 1\nparameters:\n  level: { default: '3' }\n" : "version: 1\n";
  return `${top}jobs:\n  build/${file}: { commands: make, outputs: dist }\n${jobs.join("\n")}\n`;
}

function definitionFiles(jobs: number, edition = 0): Record<string, string> {
  const files = Array.from({ length: Math.ceil(jobs / jobsInAFile) }, (_, file) => file);
  return Object.fromEntries(
    files.map((file) => [`suite-${file}.yml`, definitionFile(file, edition)]),
  );
}

/** The services that catalogs need, in their own directory. */
async function catalogServices(db: Db) {
  const root = await mkdtemp(join(tmpdir(), "grange-bench-catalogs-"));
  const git = await openGit(join(root, "git"));
  const store = memoryBlobStore();
  const mirrors = openMirrors({ git, directory: join(root, "mirrors"), workingDirectory: root });
  const evaluator = new TemplateEvaluator();
  const inputs = new CommitInputReader({ git, mirrors, db, store });
  const access = repositoryAccess({
    db,
    workingDirectory: root,
    sharedDirectories: [],
    farmDirectories: [join(root, "mirrors")],
  });
  const services = (): PreviewServices => ({
    db,
    access,
    git,
    mirrors,
    evaluator,
    inputs,
    cache: new CatalogCache(),
    inProject: (project) => ({ project, store, trees: outputTrees(store), inputs }),
  });
  return {
    root,
    /** The services of a server that has just started. */
    services,
    async stop() {
      await evaluator.stop();
      await git.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Reads a commit with this many definitions, the next one, and one that changes a file. */
export async function measureCatalog(db: Db, definitions = 40_000): Promise<CatalogFigures> {
  const farm = await catalogServices(db);
  try {
    const services = farm.services();
    const repository = testRepository(farm.root);
    const files = definitionFiles(definitions);
    const inDirectory = (texts: Record<string, string>) =>
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [`.grange/${name}`, text]));
    repository.write(inDirectory(files));
    const read = async (sha: string) => {
      const commit = await services.mirrors.fetchCommit(repository.path, sha);
      const name = await db.transaction((tx) => nameRepository(tx, commit.repository));
      const said = resolveBranch(undefined, undefined);
      const place = { repository: name, branch: "main", said, commit, by: everybody };
      const [from, readMs] = await timed(() => graphDefinitions(services, place, {}));
      const [, storeMs] = await timed(() => db.transaction((tx) => from.keep(tx)));
      return { entries: from.catalog.entries.length, readMs, storeMs };
    };
    const cold = await read(repository.commit("Define the jobs"));
    const same = await read(repository.commit("Change something else"));
    repository.write(inDirectory({ "suite-7.yml": definitionFile(7, 1) }));
    const changed = await read(repository.commit("Change one file"));
    const characters = Object.values(files).reduce((sum, text) => sum + text.length, 0);
    return {
      definitions: cold.entries,
      megabytes: characters / 1e6,
      coldReadMs: cold.readMs,
      storeMs: cold.storeMs,
      noChangeMs: same.readMs + same.storeMs,
      oneFileReadMs: changed.readMs,
      oneFileStoreMs: changed.storeMs,
    };
  } finally {
    await farm.stop();
  }
}

/** Pushes this many definitions, and previews their graph. */
export async function measurePreview(db: Db, jobs = 5_000): Promise<PreviewFigures> {
  const farm = await catalogServices(db);
  try {
    const services = farm.services();
    // The evaluator's process exists before the first request.
    await services.evaluator.evaluate({ files: [{ file: "", jobs: {} }], context: {} });
    // A server that has processed other catalogs, but not this one.
    const warm = await pushCatalog(services, { files: definitionFiles(1_000) }, everybody);
    for (const branch of ["a", "b", "c"])
      await previewGraph(services, { catalog: warm.digest, branch });
    let catalog = "";
    const look = (branch: string, by = services) =>
      timed(() => previewGraph(by, { catalog, branch }));
    // One plan takes 50 to 110 ms, depending on the garbage collection that falls into it.
    const afterPush: number[] = [];
    for (let edition = 0; edition < 5; edition++) {
      const files = definitionFiles(jobs, edition);
      ({ digest: catalog } = await pushCatalog(services, { files }, everybody));
      afterPush.push((await look("main"))[1]);
    }
    const [first] = await look("main");
    const [, otherBranchMs] = await look("work");
    const [, sameAgainMs] = await look("work");
    const [, afterRestartMs] = await look("main", farm.services());
    return {
      jobs: first.jobs.length,
      afterPushMs: quantile(afterPush, 0.5),
      otherBranchMs,
      sameAgainMs,
      afterRestartMs,
      changeToGraphMs: await changeToGraph(farm, services),
    };
  } finally {
    await farm.stop();
  }
}

async function changeToGraph(
  farm: Awaited<ReturnType<typeof catalogServices>>,
  services: PreviewServices,
): Promise<number> {
  const repository = testRepository(farm.root);
  repository.write({ "a.txt": "a" });
  const rev = repository.commit("Begin");
  const files = definitionFiles(1_000);
  const make = async (edition: number) => {
    const changed = { ...files, "suite-3.yml": definitionFile(3, edition) };
    const { digest: catalog } = await pushCatalog(services, { files: changed }, everybody);
    const request = { repository: repository.path, rev, catalog };
    const { graph } = await submitGraph(services, request, everybody);
    await wholeGraph(services.db, GraphId.parse(graph.id));
  };
  await make(1);
  const [, ms] = await timed(() => make(2));
  return ms;
}

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
}

/** `npx tsx bench/catalogs.ts` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await withBenchDatabase(async (db) => {
    const ms = (value: number) => `${value.toFixed(1).padStart(8)} ms`;
    const catalog = await measureCatalog(db);
    const preview = await measurePreview(db);
    process.stdout.write(
      [
        `${catalog.definitions} definitions, ${catalog.megabytes.toFixed(1)} MB`,
        `${ms(catalog.coldReadMs)}  read and named, nothing known`,
        `${ms(catalog.storeMs)}  stored`,
        `${ms(catalog.noChangeMs)}  a commit that changes none`,
        `${ms(catalog.oneFileReadMs)}  read and named after one file changed`,
        `${ms(catalog.oneFileStoreMs)}  stored`,
        `preview of ${preview.jobs} jobs`,
        `${ms(preview.afterPushMs)}  after the push`,
        `${ms(preview.otherBranchMs)}  for another branch`,
        `${ms(preview.sameAgainMs)}  the same again`,
        `${ms(preview.afterRestartMs)}  of a server that has just started`,
        `${ms(preview.changeToGraphMs)}  from a changed definition to the visible graph of 1,000 jobs`,
        "",
      ].join("\n"),
    );
  });
}
