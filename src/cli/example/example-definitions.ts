import { z } from "zod";
import type { NewFile } from "./fast-import.ts";

/** Pinned, so that all versions are checked by the same compiler and only the package changes. */
const compilerVersion = "5.9.3";

const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});

/**
 * Returns the files that a farm needs to check a published version.
 *
 * The dependencies are separate from the package's own manifest, which changes with each version and would cause a new
 * installation each time.
 */
export function exampleDefinitions(name: string, files: readonly NewFile[]): NewFile[] {
  const manifest = files.find((file) => file.path === "package.json");
  const text = Buffer.from(manifest?.bytes ?? []).toString() || "{}";
  const { dependencies, peerDependencies } = Manifest.parse(JSON.parse(text));
  const roots = sourceRoots(files);
  return [
    file(".grange/farm.yml", farm(name, roots)),
    file(
      ".grange/install/package.json",
      json({
        private: true,
        dependencies: { ...peerDependencies, ...dependencies, typescript: compilerVersion },
      }),
    ),
    file(
      "tsconfig.grange.json",
      json({ compilerOptions, include: roots.map((root) => `${root}/**/*.ts`) }),
    ),
  ];
}

/** One set of options for all packages, with the same meaning in every compiler from 5.0 on. */
const compilerOptions = {
  target: "es2022",
  lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
  module: "esnext",
  moduleResolution: "bundler",
  allowImportingTsExtensions: true,
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
};

/** Returns the top folders with TypeScript sources; only `src` if it has some. */
export function sourceRoots(files: readonly Pick<NewFile, "path">[]): string[] {
  const sources = files.filter(({ path }) => /(?<!\.d)\.[cm]?ts$/.test(path));
  const tops = new Set(
    sources.flatMap(({ path }) => (path.includes("/") ? (path.split("/")[0] ?? []) : [])),
  );
  if (tops.has("src")) return ["src"];
  return [...tops].toSorted();
}

function farm(name: string, roots: readonly string[]): string {
  const sources = roots.map((root) => `      - ${JSON.stringify(`${root}/**`)}`).join("\n");
  return `# Type-checks and packs ${name}, as it was published.
version: 1
jobs:
  install:
    description: The compiler and what the package depends on
    commands:
      - cd .grange/install
      - npm install --ignore-scripts --no-audit --no-fund --no-package-lock
      - mv node_modules ../../node_modules
    inputs: .grange/install/package.json
    outputs: node_modules
    network: true
    retries: 2
    timeout: 10m
  types:
    description: The sources have no type errors
    needs: [install]
    commands: node node_modules/typescript/lib/tsc.js -p tsconfig.grange.json
    inputs:
${sources}
      - package.json
      - tsconfig.grange.json
    timeout: 10m
  pack:
    description: What npm would publish
    commands:
      # npm cannot pack files that share an inode, as equal inputs may: it packs a copy.
      - copy=$(mktemp -d)
      - cp -r . "$copy"
      - mkdir packed
      - npm pack "$copy" --ignore-scripts --pack-destination packed
    inputs: ["**", "!.grange/**", "!tsconfig.grange.json"]
    outputs: packed
`;
}

function file(path: string, text: string): NewFile {
  return { path, isExecutable: false, bytes: Buffer.from(text) };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
