// Functions that analyse esbuild's output for the pages. Values in, values out.
import { basename } from "node:path";

/**
 * The groups of pages, each with its directories below web/pages/; and parts below web/shell/ that are loaded later.
 *
 * A visitor of one page probably opens another of its group. With a first load of at most 200 kB, compressed, a group
 * may have about 35 kB, so the largest pages are on their own.
 */
const groups = {
  commits: [
    "branches",
    "catalog-diff",
    "flaky",
    "home",
    "new-graph",
    "repositories",
    "repository",
    "search",
    "searches",
    "times",
    "trends",
  ],
  graph: ["graph", "graph-set"],
  job: ["job", "log"],
  builds: ["connect", "invocations"],
  build: ["execution", "invocation", "target"],
  workers: ["size-class", "size-class-key", "size-classes", "worker-timeline", "workers"],
  benchmarks: [
    "benchmark-collector",
    "benchmark-help",
    "benchmark-request",
    "benchmark-searches",
    "benchmarks",
  ],
  plots: ["benchmark-graphs", "benchmark-noise", "benchmark-series"],
  comparison: ["benchmark-compare"],
  granary: ["cache", "granary", "granary-build", "granary-index", "granary-quarantine"],
  administration: ["forge", "retention", "rights", "share-links", "sign-in"],
  share: ["shared"],
  palette: ["palette"],
};

/**
 * What so many groups need is in `first`; what fewer need is in the file of each of them.
 *
 * At 4, the first load is 10 kB larger for most pages; pages that need a list of many rows or a log are not smaller.
 */
const widelyShared = 6;

/**
 * Modules with state, such as subscribers or a cache: of each there must be one. The others may be in several files. A
 * test looks for state in them.
 */
export const mayHaveState = /^(?:(?:farm|shell)\/|parts\/(?:commands|crumbs|now)\.)/;

/** The names of the files that the pages are joined to: `first` is loaded with every page. */
export const bundleNames = ["first", ...Object.keys(groups)];

/** Returns which files of a build import which, apart from lazy imports. Files are named without their directory. */
export function staticImports({ outputs }) {
  const files = new Map(
    Object.entries(outputs).map(([path, { imports, entryPoint, inputs }]) => [
      basename(path),
      {
        entryPoint,
        sources: Object.keys(inputs ?? {}),
        imports: imports
          .filter(({ kind }) => kind === "import-statement")
          .map(({ path }) => basename(path)),
      },
    ]),
  );
  return {
    /** Returns the file that an entry point was built to. */
    outputOf: (source) => [...files].find(([, { entryPoint }]) => entryPoint === source)[0],
    /** Returns a file and all that it needs, each after what it imports. */
    reachedFrom: (file) => reached(file, (each) => files.get(each)?.imports ?? []),
    /** Returns the sources that a file was built from. */
    sourcesOf: (file) => files.get(file)?.sources ?? [],
    /** Returns the files that begin with an entry point: the first page, and what is loaded lazily. */
    entries: () => [...files].filter(([, { entryPoint }]) => entryPoint !== undefined),
  };
}

/**
 * Returns a function from a file of the first pass to the names of the bundles that it is in: a page needs two scripts,
 * `first` and that of its group, and each imports only from itself and from `first`.
 *
 * The function throws for a file that is in none. `assignBundles` throws when a directory has no group.
 *
 * @param {ReturnType<typeof staticImports>} graph
 * @param {string} main The source of the first page
 */
export function assignBundles(graph, main) {
  const users = new Map();
  for (const [entry, { entryPoint }] of graph.entries()) {
    const bundle = entryPoint === main ? "first" : groupOf(entryPoint);
    for (const file of graph.reachedFrom(entry)) {
      users.set(file, (users.get(file) ?? new Set()).add(bundle));
    }
  }
  const isForAll = (file) => {
    const bundles = users.get(file);
    const isShared = bundles.size > 1;
    const hasState = graph.sourcesOf(file).some((source) => mayHaveState.test(source));
    return bundles.has("first") || bundles.size >= widelyShared || (isShared && hasState);
  };
  // What a file of `first` imports is there, too.
  const first = new Set(
    [...users.keys()].filter(isForAll).flatMap((each) => [...graph.reachedFrom(each)]),
  );
  return (file) => {
    if (first.has(file)) return ["first"];
    const bundles = users.get(file);
    if (bundles === undefined) throw new Error(`${file} is in no bundle`);
    return [...bundles];
  };
}

/** Lazily loaded files outside these directories are small parts for all pages. */
function groupOf(source) {
  const directory = /^(?:pages|shell)\/([^/]+)\//.exec(source)?.[1];
  if (directory === undefined) return "first";
  const found = Object.entries(groups).find(([, directories]) => directories.includes(directory));
  if (found === undefined) {
    throw new Error(
      `web/pages/${directory} is in no group of scripts/page-graph.mjs: add it to one`,
    );
  }
  return found[0];
}

/** Returns the style sheets of all pages: first those of the first page, each sheet once and after what it needs. */
export function styleSheets({ inputs, outputs }) {
  const importsOf = (source) =>
    (inputs[source]?.imports ?? [])
      .filter(({ kind, external }) => kind === "import-statement" && external !== true)
      .map(({ path }) => path);
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  const first = entries.filter((entry) => !/^(?:pages|shell)\//.test(entry));
  const sheets = [...first, ...entries.toSorted((a, b) => (a < b ? -1 : 1))].flatMap((entry) =>
    [...reached(entry, importsOf)].filter((each) => each.endsWith(".css")),
  );
  return [...new Set(sheets)];
}

/** Depth first, so that each follows what it imports. */
function reached(from, importsOf, found = new Set(), visited = new Set()) {
  if (visited.has(from)) return found;
  visited.add(from);
  for (const each of importsOf(from)) reached(each, importsOf, found, visited);
  return found.add(from);
}
