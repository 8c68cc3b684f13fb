// Functions that analyse esbuild's output for the pages. Values in, values out.
import { basename } from "node:path";

/** Returns which files of a build import which, apart from lazy imports. Files are named without their directory. */
export function staticImports({ outputs }) {
  const files = new Map(
    Object.entries(outputs).map(([path, { imports, entryPoint }]) => [
      basename(path),
      {
        entryPoint,
        imports: imports
          .filter(({ kind }) => kind === "import-statement")
          .map(({ path }) => basename(path)),
      },
    ]),
  );
  const reachedFrom = (file) => reached(file, (each) => files.get(each)?.imports ?? []);
  return {
    /** Returns the file that an entry point was built to. */
    outputOf: (source) => [...files].find(([, { entryPoint }]) => entryPoint === source)[0],
    /** Returns a file and all that it needs, each after what it imports. */
    reachedFrom,
    /** Returns the files that at least so many entry points need, lazily loaded ones among them. */
    sharedBy(count) {
      const users = new Map();
      for (const [entry, { entryPoint }] of files) {
        if (entryPoint === undefined) continue;
        for (const each of reachedFrom(entry)) users.set(each, (users.get(each) ?? 0) + 1);
      }
      return [...users].filter(([, uses]) => uses >= count).map(([file]) => file);
    },
  };
}

/**
 * Returns the style sheets of the first page, and by file those that a page needs beside them, in the order of imports.
 *
 * @param {string} main The source of the first page
 */
export function stylesOfPages({ inputs, outputs }, main) {
  const importsOf = (source) =>
    (inputs[source]?.imports ?? [])
      .filter(({ kind, external }) => kind === "import-statement" && external !== true)
      .map(({ path }) => path);
  const stylesOf = (source) =>
    [...reached(source, importsOf)].filter((each) => each.endsWith(".css"));
  const first = stylesOf(main);
  const ofPage = new Map();
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined || entryPoint === main) continue;
    ofPage.set(
      basename(path),
      stylesOf(entryPoint).filter((style) => !first.includes(style)),
    );
  }
  return { first, ofPage };
}

/** Depth first, so that each follows what it imports. */
function reached(from, importsOf, found = new Set(), visited = new Set()) {
  if (visited.has(from)) return found;
  visited.add(from);
  for (const each of importsOf(from)) reached(each, importsOf, found, visited);
  return found.add(from);
}
