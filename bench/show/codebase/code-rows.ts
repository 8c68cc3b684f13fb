import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pino from "pino";
import { allEndpoints, endpointGroups } from "#api/endpoints/all-endpoints.ts";
import { endpointTables } from "#api/endpoints/endpoint-tables.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { methodRights } from "#server/grpc/method-rights.ts";
import { alwaysReady } from "#server/health/always-ready.fixture.ts";
import { httpApp } from "#server/http/http-app.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { runTests } from "../run-tests.ts";
import { reasonsForLength } from "./long-functions.ts";

const run = promisify(execFile);

/** Files of `src` that people write, without tests. */
function sources(): string[] {
  return execFileSync("git", ["ls-files", "src"], { encoding: "utf8" })
    .split("\n")
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("src/proto/"))
    .filter((file) => !/\.(test|fixture)\.tsx?$/.test(file));
}

/** Endpoints and methods with their rights, and the documents generated from them. */
export const endpointRows: Measurement = {
  title: "endpoints with their right",
  long: false,
  measure: async () => {
    const app = httpApp({
      readiness: alwaysReady,
      farm: {} as never,
      handlers: {} as never,
      logger: pino({ level: "silent" }),
      webDir: undefined,
      host: "127.0.0.1",
    });
    const inTable = new Set(
      Object.values({ ...signInEndpoints, ...allEndpoints }).map(
        ({ method, path }) => `${method} /api/v1${path}`,
      ),
    );
    const routed = new Set(
      app.routes
        .filter(
          ({ method, path }) =>
            method !== "ALL" && path.startsWith("/api/v1/") && !path.endsWith("*"),
        )
        .map(({ method, path }) => `${method} ${path}`),
    );
    const outside = [...routed].filter((each) => !inTable.has(each));
    const document = await readFile("docs/http-api.md", "utf8");
    return [
      forInformation(
        "endpoints in the table, each with its right",
        inTable.size,
        "endpoints",
        "entries of src/api/endpoints",
      ),
      forInformation(
        "gRPC methods with their right",
        Object.keys(methodRights).length,
        "methods",
        "entries of src/server/grpc/method-rights.ts",
      ),
      exactly(
        "endpoints of the API that are in no table",
        outside.length,
        0,
        "endpoints",
        outside.join(", ") || "routes of the application, compared with the table",
      ),
      exactly(
        "docs/http-api.md equal to the table",
        document.includes(endpointTables(endpointGroups)) ? "yes" : "no",
        "yes",
        "",
        "generated anew and compared",
      ),
    ];
  },
};

/** Tests that check the tables and the names. */
export const checkedRows: Measurement = {
  title: "tests of rights, glossary and words",
  long: false,
  measure: async () => {
    const results = await runTests(
      "src/server/rights-of-calls.test.ts",
      "test/glossary.test.ts",
      "test/retired-words.test.ts",
      "test/architecture.test.ts",
    );
    const failed = results.filter(({ passed }) => !passed);
    return [
      exactly(
        "tests that call each endpoint and method without its right, and look for doubled terms and retired words: failed",
        failed.length,
        0,
        `of ${results.length}`,
        failed.map(({ title }) => title).join("; ") ||
          "src/server/rights-of-calls.test.ts, test/{glossary,retired-words,architecture}.test.ts",
      ),
    ];
  },
};

export const sizeRows: Measurement = {
  title: "sizes of functions and files",
  long: false,
  measure: async () => {
    const files = sources();
    const lengths = await Promise.all(
      files.map(async (file) => (await readFile(file, "utf8")).split("\n").length - 1),
    );
    const small = lengths.filter((lines) => lines < 30).length;
    return [
      await longFunctions(200, 0, files),
      ...(await explainedFunctions(files)),
      forInformation(
        "files of src under 30 lines",
        (100 * small) / files.length,
        "%",
        `${small} of ${files.length} files without tests`,
      ),
      forInformation(
        "lines of src without tests",
        lengths.reduce((sum, lines) => sum + lines, 0),
        "lines",
        "without tests, fixtures and generated code",
      ),
    ];
  },
};

interface LongFunction {
  readonly file: string;
  readonly name: string;
}

async function longFunctions(lines: number, most: number, files: readonly string[]): Promise<Row> {
  const found = await functionsOver(lines, files);
  return atMost(
    `functions of src over ${lines} lines`,
    found.length,
    most,
    "functions",
    found.map(({ file, name }) => `${file}: ${name}`).join("; ") || "none",
  );
}

/** Functions of more than 100 lines, each with its reason; and those without a written reason. */
async function explainedFunctions(files: readonly string[]): Promise<Row[]> {
  const found = await functionsOver(100, files);
  const names = new Set(found.map(({ name }) => name));
  const unexplained = found.filter(({ name }) => reasonsForLength[name] === undefined);
  const outdated = Object.keys(reasonsForLength).filter((name) => !names.has(name));
  const reasonOf = ({ file, name }: LongFunction) =>
    `${file}: ${name}: ${reasonsForLength[name] ?? "no reason"}`;
  return [
    atMost(
      "functions of src over 100 lines",
      found.length,
      20,
      "functions",
      found.map(reasonOf).join("; ") || "none",
    ),
    exactly(
      "of these without a reason in bench/show/codebase/long-functions.ts, and reasons for shorter functions",
      unexplained.length + outdated.length,
      0,
      "",
      [...unexplained.map(({ name }) => name), ...outdated].join(", ") || "all have a reason",
    ),
  ];
}

/** Returns the functions of more than so many lines; blank lines and comments count. */
async function functionsOver(lines: number, files: readonly string[]): Promise<LongFunction[]> {
  const directory = await mkdtemp(join(tmpdir(), "grange-long-"));
  try {
    const config = join(directory, "oxlint.json");
    const rules = { "max-lines-per-function": ["error", { max: lines }] };
    await writeFile(config, JSON.stringify({ categories: { correctness: "off" }, rules }));
    const { stdout } = await run(
      "npx",
      ["--no-install", "oxlint", "-c", config, "--format", "json", "src"],
      {
        maxBuffer: 64 * 1024 * 1024,
      },
    ).catch((reason: { stdout: string }) => reason);
    const wanted = new Set(files);
    return (
      JSON.parse(stdout) as { diagnostics: { filename: string; message: string }[] }
    ).diagnostics
      .filter(({ filename }) => wanted.has(filename))
      .map(({ filename, message }) => ({
        file: filename,
        name: /`(\w+)`/.exec(message)?.[1] ?? "a function",
      }));
  } finally {
    await rm(directory, { recursive: true });
  }
}
