import { readFile } from "node:fs/promises";
import { arch, cpus, platform, release } from "node:os";
import { type Command, Option } from "commander";
import { ImportResults } from "#api/benchmark-history.ts";
import { messageOf } from "#core/fault.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";
import { pageLine } from "./page-address.ts";

interface ImportOptions extends CommonOptions {
  readonly suite: string;
  readonly artifact: string;
  readonly parent?: string;
  readonly date?: string;
  readonly kind: "master" | "release" | "try";
  readonly target: string;
}

const tools = ImportResults.shape.tool.options;

/** `grange bench import TOOL FILE`. */
export function describeImportCommand(command: Command): void {
  const imports = speaksToServer(command.command("import"))
    .description("import figures from another benchmark tool, commit by commit")
    .argument("<tool>", tools.join(", "))
    .argument("<file>", "the output of the tool; - reads standard input")
    .requiredOption("--suite <name>", "the suite; created if it does not exist")
    .requiredOption("--artifact <name>", "the measured commit or version")
    .option("--parent <name>", "the previous artifact (default: the last imported one)")
    .option(
      "--date <time>",
      "the time of the artifact, such as 2026-11-22T10:00:00Z (default: now)",
    )
    .addOption(
      new Option("--kind <kind>", "the kind of the artifact")
        .choices(["master", "release", "try"])
        .default("master"),
    )
    .option("--target <name>", "the target of the measurement", `${platform()}-${arch()}`)
    .action((tool: string, file: string, options: ImportOptions) =>
      inSession(options, async (session) => {
        const known = ImportResults.shape.tool.safeParse(tool);
        if (!known.success) {
          throw new UsageError(`"${printableLine(tool)}" is not one of ${tools.join(", ")}`);
        }
        const { suite, artifact, parent, date, kind, target } = options;
        const results: ImportResults = {
          suite,
          artifact,
          kind,
          tool: known.data,
          target,
          environment: machineHere(),
          output: await outputIn(file),
          ...(parent === undefined ? {} : { parent }),
          ...(date === undefined ? {} : { datedAt: date }),
        };
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const kept = await session.api.call(benchmarkSuiteEndpoints.importBenchmarks, {
          body: results,
        });
        return answer(session, options, kept, () => [
          `${kept.cases} benchmarks of ${kept.artifact} in ${kept.suite}: ${kept.iterations} iterations kept` +
            (kept.kept === 0 ? "." : `; ${kept.kept} already had figures, which are kept.`),
          pageLine(session.api.serverUrl, ["graphs"], { suite: kept.suite }),
        ]);
      }),
    );
  withExamples(imports, [
    [
      "after `hyperfine --export-json out.json …`",
      "bench import hyperfine out.json --suite scripts --artifact 3f2c91d",
    ],
    [
      "after `go test -bench . > out.txt`",
      "bench import go-bench out.txt --suite go --artifact 3f2c91d",
    ],
  ]);
}

/** Enough to separate figures of different machines. */
function machineHere(): Record<string, string> {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cpus: String(cpus().length),
    kernel: `${platform()} ${release()}`,
  };
}

async function outputIn(file: string): Promise<string> {
  try {
    return await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
  } catch (cause) {
    throw new UsageError(`${printableLine(file)} cannot be read: ${messageOf(cause)}`);
  }
}
