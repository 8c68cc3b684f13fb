import { expect, test } from "vitest";

interface Import {
  readonly path: string;
  readonly kind: "import-statement" | "dynamic-import";
}
interface Metafile {
  readonly inputs: Readonly<Record<string, { readonly imports: readonly Import[] }>>;
  readonly outputs: Readonly<
    Record<string, { readonly entryPoint?: string; readonly imports: readonly Import[] }>
  >;
}

const script = new URL("../../scripts/page-graph.mjs", import.meta.url).href;
const { staticImports, stylesOfPages } = (await import(script)) as {
  readonly staticImports: (metafile: Pick<Metafile, "outputs">) => {
    readonly outputOf: (source: string) => string;
    readonly reachedFrom: (file: string) => Set<string>;
    readonly sharedBy: (count: number) => string[];
  };
  readonly stylesOfPages: (
    metafile: Metafile,
    main: string,
  ) => { readonly first: string[]; readonly ofPage: Map<string, string[]> };
};

const statically = (path: string): Import => ({ path, kind: "import-statement" });
const lazily = (path: string): Import => ({ path, kind: "dynamic-import" });

/** Two pages, `a` and `b`: each shares a chunk with the first page, and both share another one. */
const outputs: Metafile["outputs"] = {
  "out/main.js": {
    entryPoint: "main.tsx",
    imports: [statically("out/base.js"), lazily("out/a.js"), lazily("out/b.js")],
  },
  "out/a.js": { entryPoint: "a.tsx", imports: [statically("out/parts.js")] },
  "out/b.js": {
    entryPoint: "b.tsx",
    imports: [statically("out/parts.js"), statically("out/base.js")],
  },
  "out/parts.js": { imports: [] },
  "out/base.js": { imports: [] },
};

test("the first page needs its static imports, and no page that it loads later", () => {
  const graph = staticImports({ outputs });

  expect(graph.outputOf("main.tsx")).toBe("main.js");
  expect([...graph.reachedFrom("main.js")]).toEqual(["base.js", "main.js"]);
});

test("a file is shared by the entry points that need it", () => {
  expect(staticImports({ outputs }).sharedBy(2).toSorted()).toEqual(["base.js", "parts.js"]);
});

test("a page adds the styles of its modules that the first page does not have, in the order of imports", () => {
  const inputs: Metafile["inputs"] = {
    "main.tsx": { imports: [statically("base.css"), lazily("a.tsx"), lazily("b.tsx")] },
    "a.tsx": { imports: [statically("parts.tsx"), statically("a.css"), statically("base.css")] },
    "b.tsx": { imports: [statically("base.css")] },
    "parts.tsx": { imports: [statically("parts.css")] },
  };

  const styles = stylesOfPages({ inputs, outputs }, "main.tsx");

  expect(styles.first).toEqual(["base.css"]);
  expect([...styles.ofPage]).toEqual([
    ["a.js", ["parts.css", "a.css"]],
    ["b.js", []],
  ]);
});
