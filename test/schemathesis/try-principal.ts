import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../support/process.ts";

/**
 * What each answer must satisfy: no failure of the server, a documented status and content type, and a body of the
 * documented shape.
 */
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];

/** Schemathesis makes no texts for patterns that look ahead or behind; any text is good enough. */
function withoutLookaround(key: string, value: unknown): unknown {
  const looksAround = key === "pattern" && typeof value === "string" && value.includes("(?");
  return looksAround ? undefined : value;
}

/**
 * Sends requests that Schemathesis makes from an OpenAPI document, valid ones and others, as one principal.
 *
 * Streams of events are left out, because they do not end.
 *
 * @returns the report of Schemathesis, for people; empty when all answers are as they should be
 */
export async function tryPrincipal(options: {
  readonly program: string;
  readonly url: string;
  readonly document: unknown;
  /** Undefined: nobody. */
  readonly token: string | undefined;
  readonly examples: number;
  readonly seed: number;
}): Promise<string> {
  const { program, url, document, token, examples, seed } = options;
  const directory = await mkdtemp(join(tmpdir(), "grange-schemathesis-"));
  try {
    const schema = join(directory, "openapi.json");
    await writeFile(schema, JSON.stringify(document, withoutLookaround));
    const { code, stdout, stderr } = await runProgram(
      program,
      [
        ["run", schema],
        ["--url", `${url.replace(/\/$/, "")}/api/v1`],
        token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`],
        ["--checks", checks.join(",")],
        ["--phases", "examples,fuzzing"],
        ["--max-examples", `${examples}`, "--seed", `${seed}`, "--no-shrink"],
        ["--exclude-path-regex", "/events$", "--request-timeout", "30"],
        ["--warnings", "off", "--no-color", "--generation-database", "none"],
      ].flat(),
      { cwd: directory },
    );
    // It repeats whole addresses, of up to 100 KB.
    const lines = `${stdout}${stderr}`.split("\n").map((line) => line.slice(0, 300));
    return code === 0 ? "" : lines.join("\n");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
