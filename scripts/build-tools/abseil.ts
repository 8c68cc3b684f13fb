import { appendFile, cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { exactly, forInformation, type Row } from "../../bench/show/row.ts";
import {
  assertGreen,
  type Bazel,
  type BazelRun,
  bazelNeed,
  startBazel,
} from "../../test/build-tools/bazel.ts";
import { bazelWorkspace } from "../../test/build-tools/bazel-workspace.ts";
import { startFarm } from "../../test/support/farm.ts";
import { printRows } from "./print-rows.ts";

const libraries = ["//absl/strings:strings", "//absl/container:flat_hash_map", "//absl/time:time"];
const tests = [
  "//absl/strings:ascii_test",
  "//absl/strings:match_test",
  "//absl/container:flat_hash_set_test",
];

/** Returns why it cannot be built here; undefined when it can. */
export function whyNoAbseil(): string | undefined {
  if (process.env["GRANGE_DEBIAN_SOURCES"] === undefined) {
    return "GRANGE_DEBIAN_SOURCES names no directory; `apt-get source abseil googletest` (Debian 12) makes one";
  }
  return bazelNeed.missing;
}

/** A widely used library, built and tested: alone, with Bazel's own disk cache, with a farm of two workers. */
export async function abseil(): Promise<Row[]> {
  const sources = process.env["GRANGE_DEBIAN_SOURCES"] ?? "";
  const tools = await bazelWorkspace();
  const work = await mkdtemp(join(tmpdir(), "grange-abseil-"));
  const bazel = await startBazel(await sourceOf(sources, "abseil-"));
  const farm = await startFarm({ workers: 2 });
  try {
    const flags = await flagsFor(tools.path, work, await sourceOf(sources, "googletest-"));
    const build = builder(bazel, flags);
    const remote = [
      "--spawn_strategy=remote",
      "--jobs=8",
      `--remote_executor=${farm.url.replace("http:", "grpc:")}`,
      "--remote_instance_name=abseil",
    ];
    // Analysis and its downloads are not measured.
    await bazel.run("build", "--nobuild", ...flags, ...libraries, ...tests);
    const alone = await build();
    const filling = await build(`--disk_cache=${join(work, "disk")}`);
    const fromDisk = await build(`--disk_cache=${join(work, "disk")}`);
    const executed = await build(...remote);
    const fromFarm = await build(...remote);
    const count = (twice: Twice, kind: string) =>
      twice.map(({ processes }) => processes[kind] ?? 0).join(" + ");
    const how =
      "bazel build //absl/strings //absl/container:flat_hash_map //absl/time, then bazel test of three tests; after bazel clean";
    return [
      exactly("abseil: executed by the farm", count(executed, "remote"), "88 + 58", "actions", how),
      exactly("abseil: then from its cache", missesOf(fromFarm), 0, "executed again", how),
      ...(
        [
          ["alone, two at a time", alone],
          ["alone, filling Bazel's disk cache", filling],
          ["from Bazel's disk cache", fromDisk],
          ["executed by the farm, two workers, all on one machine", executed],
          ["from the farm's cache", fromFarm],
        ] as const
      ).map(([name, twice]) => forInformation(`abseil ${name}`, secondsOf(twice), "s", how)),
    ];
  } finally {
    await bazel.close();
    await farm.stop();
    await tools.remove();
    await rm(work, { recursive: true, force: true });
  }
}

type Twice = readonly [BazelRun, BazelRun];

function builder(bazel: Bazel, flags: readonly string[]) {
  return async (...more: string[]): Promise<Twice> => {
    await bazel.run("clean", ...flags.filter((flag) => flag.startsWith("--symlink")));
    const built = await good(bazel.run("build", ...libraries, ...flags, ...more));
    const tested = await good(bazel.run("test", ...tests, ...flags, ...more));
    return [built, tested];
  };
}

async function good(running: Promise<BazelRun>): Promise<BazelRun> {
  const run = await running;
  assertGreen(run);
  return run;
}

function secondsOf(twice: Twice): number {
  return twice.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
}

function missesOf(twice: Twice): number {
  return twice.reduce((sum, { processes }) => {
    const { internal: _, "remote cache hit": __, ...others } = processes;
    return sum + Object.values(others).reduce((all, each) => all + each, 0);
  }, 0);
}

async function sourceOf(sources: string, prefix: string): Promise<string> {
  for (const entry of await readdir(sources, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.startsWith(prefix)) return join(sources, entry.name);
  }
  throw new Error(`${sources} has no directory ${prefix}…`);
}

/** Uses its rule repositories from this machine, without changing its tree. */
async function flagsFor(tools: string, work: string, googletest: string): Promise<string[]> {
  const platforms = join(work, "platforms");
  await cp("/usr/share/bazel/platforms", platforms, { recursive: true });
  for (const name of ["wasm32", "wasm64"]) {
    const value = `\nconstraint_value(name = "${name}", constraint_setting = ":cpu")\n`;
    await appendFile(join(platforms, "cpu/BUILD"), value);
  }
  const overrides = {
    rules_cc: join(tools, "tools/rules_cc"),
    remote_coverage_tools: join(tools, "tools/coverage"),
    rules_java: "/usr/share/bazel/rules/java",
    rules_proto: "/usr/share/bazel/rules/proto",
    bazel_skylib: "/usr/share/bazel/tools/skylib",
    platforms,
    com_google_googletest: googletest,
  };
  return [
    "--nosandbox_debug",
    "--incompatible_strict_action_env",
    "--cxxopt=-std=c++17",
    // No symlinks in a foreign tree.
    "--symlink_prefix=/",
    "--curses=no",
    "--color=no",
    ...Object.entries(overrides).map(([name, path]) => `--override_repository=${name}=${path}`),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await printRows("abseil's builds", whyNoAbseil(), abseil);
}
