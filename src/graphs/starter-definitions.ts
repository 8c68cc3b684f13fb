import { z } from "zod";

/** Files whose content says how a repository is built. */
export const telltaleFiles = [
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "Makefile",
  "Cargo.toml",
  "Cargo.lock",
  "go.mod",
  "go.sum",
  "CMakeLists.txt",
] as const;

export interface Starter {
  /** The text of a first `.grange/farm.yml`. */
  readonly text: string;
  /** What was recognised, for people: `package.json with scripts lint, test`. */
  readonly found: readonly string[];
  readonly jobs: readonly string[];
}

interface StarterJob {
  readonly name: string;
  readonly comment?: string;
  /** Lines of YAML below the name. */
  readonly lines: readonly string[];
}

interface Recognised {
  readonly found: string;
  readonly jobs: readonly StarterJob[];
}

/**
 * Writes first definitions for a repository from the files at its top.
 *
 * `files` are those of `telltaleFiles` that exist, by name, with their content.
 */
export function starterDefinitions(files: ReadonlyMap<string, string>): Starter {
  const recognised = [npm(files), cargo(files), go(files), cmake(files), make(files)].flatMap(
    (one) => one ?? [],
  );
  const names = new Set<string>();
  const jobs = recognised
    .flatMap((one) => one.jobs)
    .filter(({ name }) => !names.has(name) && names.add(name));
  const all = jobs.length > 0 ? jobs : [placeholder];
  const found = recognised.map((one) => one.found);
  return {
    text: [heading(found), ...all.map(jobText)].join("\n"),
    found,
    jobs: all.map(({ name }) => name),
  };
}

function heading(found: readonly string[]): string {
  const from =
    found.length === 0
      ? "nothing that was recognised; put your own commands here"
      : found.join("; ");
  return `# Jobs of this repository, run for every commit. Written from: ${from}.
# A job runs again only when a file that it reads has changed: narrow \`inputs\`.
version: 1

jobs:`;
}

function jobText({ name, comment, lines }: StarterJob): string {
  const about = comment === undefined ? [] : [`  # ${comment}`];
  return [...about, `  ${name}:`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}

const placeholder: StarterJob = { name: "hello", lines: ['commands: echo "Hello from the farm"'] };

const PackageJson = z.object({
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
});

function npm(files: ReadonlyMap<string, string>): Recognised | undefined {
  const text = files.get("package.json");
  if (text === undefined) return undefined;
  const parsed = PackageJson.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { scripts } = parsed.data;
  const chosen = ["lint", "typecheck", "test", "build"].filter((name) => isMeant(scripts[name]));
  const locked = files.has("package-lock.json");
  const install: StarterJob = {
    name: "install",
    comment:
      "Runs again only when these two files change. The other jobs take node_modules from it.",
    lines: [
      "commands: npm ci --no-audit --no-fund --ignore-scripts",
      "inputs: [package.json, package-lock.json]",
      "outputs: node_modules",
      "network: true",
    ],
  };
  // Where another manager puts what it installs differs from one workspace to the next.
  const otherLock = locked ? undefined : otherLocks.find((name) => files.has(name));
  const advice =
    otherLock === undefined
      ? {}
      : { comment: `Needs a job before it that installs what ${otherLock} names.` };
  const run = (name: string): StarterJob => ({
    name,
    ...advice,
    lines: [`commands: npm run ${name}`, ...(locked ? ["needs: [install]"] : [])],
  });
  const what = chosen.length === 0 ? "package.json" : `package.json with ${chosen.join(", ")}`;
  const found =
    otherLock === undefined ? what : `${what}, and ${otherLock}, whose install is yours to write`;
  return { found, jobs: [...(locked ? [install] : []), ...chosen.map(run)] };
}

const otherLocks = ["pnpm-lock.yaml", "yarn.lock", "bun.lock"];

/** What `npm init` writes for a test is none. */
function isMeant(script: string | undefined): boolean {
  return script !== undefined && !script.includes("no test specified");
}

function make(files: ReadonlyMap<string, string>): Recognised | undefined {
  const text = files.get("Makefile");
  if (text === undefined) return undefined;
  const targets = ["all", "test", "check"].filter((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test(text),
  );
  const jobs = targets.map((name) => ({ name: `make/${name}`, lines: [`commands: make ${name}`] }));
  return { found: targets.length === 0 ? "Makefile" : `Makefile with ${targets.join(", ")}`, jobs };
}

function cargo(files: ReadonlyMap<string, string>): Recognised | undefined {
  if (!files.has("Cargo.toml")) return undefined;
  const locked = files.has("Cargo.lock") ? " --locked" : "";
  const job = (name: string): StarterJob => ({
    name: `cargo/${name}`,
    lines: [`commands: cargo ${name}${locked}`, "network: true"],
  });
  return { found: "Cargo.toml", jobs: [job("build"), job("test")] };
}

function go(files: ReadonlyMap<string, string>): Recognised | undefined {
  if (!files.has("go.mod")) return undefined;
  const network = files.has("go.sum") ? ["network: true"] : [];
  const job = (name: string): StarterJob => ({
    name: `go/${name}`,
    lines: [`commands: go ${name} ./...`, ...network],
  });
  return { found: "go.mod", jobs: [job("vet"), job("test")] };
}

function cmake(files: ReadonlyMap<string, string>): Recognised | undefined {
  const text = files.get("CMakeLists.txt");
  if (text === undefined) return undefined;
  const hasTests = /enable_testing|include\s*\(\s*CTest/i.test(text);
  const lines = [
    "commands:",
    "  - cmake -S . -B build",
    "  - cmake --build build",
    ...(hasTests ? ["  - ctest --test-dir build --output-on-failure"] : []),
  ];
  const comment =
    "One job: the build directory holds absolute paths, and would not survive a move.";
  return {
    found: hasTests ? "CMakeLists.txt with tests" : "CMakeLists.txt",
    jobs: [{ name: "cmake", comment, lines }],
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
