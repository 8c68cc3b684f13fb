import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

interface Import {
  readonly path: string;
  readonly kind: "import-statement" | "dynamic-import";
}
interface Metafile {
  readonly inputs: Readonly<Record<string, { readonly imports: readonly Import[] }>>;
  readonly outputs: Readonly<
    Record<
      string,
      {
        readonly entryPoint?: string;
        readonly imports: readonly Import[];
        readonly inputs?: Readonly<Record<string, object>>;
      }
    >
  >;
}
interface Graph {
  readonly outputOf: (source: string) => string;
  readonly reachedFrom: (file: string) => Set<string>;
}

const script = new URL("../../scripts/page-graph.mjs", import.meta.url).href;
const { assignBundles, mayHaveState, staticImports, styleSheets } = (await import(script)) as {
  readonly assignBundles: (graph: Graph, main: string) => (file: string) => string[];
  readonly mayHaveState: RegExp;
  readonly staticImports: (metafile: Pick<Metafile, "outputs">) => Graph;
  readonly styleSheets: (metafile: Metafile) => string[];
};

const statically = (path: string): Import => ({ path, kind: "import-statement" });
const lazily = (path: string): Import => ({ path, kind: "dynamic-import" });

/** Pages of seven groups: all need `wide`, and two of them `states` and `parts`. */
const groups = ["home", "workers", "connect", "granary", "forge", "graph", "job"];
const needs = (directory: string) =>
  ["graph", "job"].includes(directory) ? ["wide", "states", "parts"] : ["wide"];
const outputs: Metafile["outputs"] = {
  "out/main.js": {
    entryPoint: "main.tsx",
    imports: [statically("out/base.js"), ...groups.map((each) => lazily(`out/${each}.js`))],
  },
  ...Object.fromEntries(
    groups.map((each) => [
      `out/${each}.js`,
      {
        entryPoint: `pages/${each}/page.tsx`,
        imports: needs(each).map((name) => statically(`out/${name}.js`)),
      },
    ]),
  ),
  "out/states.js": { imports: [], inputs: { "../src/api/job-state.ts": {} } },
  "out/parts.js": { imports: [], inputs: { "parts/now.ts": {} } },
  "out/wide.js": { imports: [statically("out/needed-by-wide.js")] },
  "out/needed-by-wide.js": { imports: [] },
  "out/base.js": { imports: [] },
};

test("the first page needs its static imports, and no page that it loads later", () => {
  const graph = staticImports({ outputs });

  expect(graph.outputOf("main.tsx")).toBe("main.js");
  expect([...graph.reachedFrom("main.js")]).toEqual(["base.js", "main.js"]);
});

describe("a file is joined", () => {
  const bundlesOf = assignBundles(staticImports({ outputs }), "main.tsx");

  test.each([
    { file: "base.js", bundles: ["first"], why: "the first page needs it" },
    { file: "graph.js", bundles: ["graph"], why: "it is a page of that group" },
    { file: "states.js", bundles: ["graph", "job"], why: "few groups need it" },
    { file: "parts.js", bundles: ["first"], why: "it may have state, and two groups need it" },
    { file: "wide.js", bundles: ["first"], why: "many groups need it" },
    { file: "needed-by-wide.js", bundles: ["first"], why: "a file of `first` needs it" },
  ])("$file to $bundles: $why", ({ file, bundles }) => {
    expect(bundlesOf(file)).toEqual(bundles);
  });

  test("each directory of pages is in a group, and one without is refused by name", () => {
    const pages = join(import.meta.dirname, "../../web/pages");
    const graphOf = (directory: string) =>
      staticImports({
        outputs: {
          "out/main.js": { entryPoint: "main.tsx", imports: [] },
          "out/page.js": { entryPoint: `pages/${directory}/page.tsx`, imports: [] },
        },
      });

    for (const directory of readdirSync(pages)) {
      expect(assignBundles(graphOf(directory), "main.tsx")("page.js")).not.toEqual(["first"]);
    }
    expect(() => assignBundles(graphOf("unheard-of"), "main.tsx")).toThrow("web/pages/unheard-of");
  });
});

test("modules that may be in several files have no state of their own", () => {
  const web = join(import.meta.dirname, "../../web");
  const state =
    /^(?:export )?(?:let |const [^=]+= (?:new (?:Map|Set|WeakMap)(?:<[^(]*>)?\(\)|createContext))/m;
  const modules = ["farm", "pages", "parts", "shell"].flatMap((directory) =>
    readdirSync(join(web, directory), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
      .map((name) => `${directory}/${name}`),
  );
  const withState = modules.filter((name) => state.test(readFileSync(join(web, name), "utf8")));

  expect(withState).toContain("parts/now.ts");
  expect(withState.filter((name) => !mayHaveState.test(name))).toEqual([]);
});

test("the style sheets of the first page come first, and each follows what it needs", () => {
  const inputs: Metafile["inputs"] = {
    "main.tsx": { imports: [statically("base.css"), lazily("pages/job/page.tsx")] },
    "pages/graph/page.tsx": {
      imports: [statically("parts.tsx"), statically("graph.css"), statically("base.css")],
    },
    "pages/job/page.tsx": { imports: [statically("graph.css"), statically("job.css")] },
    "parts.tsx": { imports: [statically("parts.css")] },
  };

  expect(styleSheets({ inputs, outputs })).toEqual([
    "base.css",
    "parts.css",
    "graph.css",
    "job.css",
  ]);
});
