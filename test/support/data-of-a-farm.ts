import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { GranaryBuilds } from "#api/granary.ts";
import { remoteBuilder } from "#build-client/remote-builder.ts";
import { runGrange } from "./run-grange.ts";
import { sampleRepository } from "./sample-repository.ts";

/** Runs a build of one action that prints `line` to stderr and fails; `invocation` becomes the build's id. */
export async function runFailingBuild(
  url: string,
  build: {
    readonly invocation: string;
    readonly tool: string;
    readonly mnemonic: string;
    readonly line: string;
  },
): Promise<void> {
  const builder = remoteBuilder({
    url,
    project: "",
    invocation: build.invocation,
    tool: { name: build.tool, version: "1" },
  });
  await builder.run({
    mnemonic: build.mnemonic,
    target: `//broken:${build.mnemonic}`,
    arguments: ["/bin/sh", "-c", `echo begun; echo "${build.line}" >&2; exit 1`],
    environment: {},
    inputs: [],
    outputs: ["out"],
  });
  await builder.close();
}

/** Stores measurements of two artifacts, `v1` and `v2`, in a suite: the benchmark `sort` becomes 50 % slower. */
export async function importTwoMeasurements(url: string, suite: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "grange-measurements-"));
  const target = `${process.platform}-${process.arch}`;
  const measured = { v1: [1.0, 1.01, 0.99], v2: [1.5, 1.51, 1.49] };
  for (const [artifact, times] of Object.entries(measured)) {
    const file = join(directory, `${artifact}.json`);
    await writeFile(file, JSON.stringify({ results: [{ command: "sort", times }] }));
    const of = ["--artifact", artifact, "--suite", suite, "--target", target];
    await mustRun(["bench", "import", "hyperfine", file, ...of, "--server", url], {});
  }
  await rm(directory, { recursive: true, force: true });
}

/** A build tool of a few lines: it requests each of two results from the cache, and stores it if it is missing. */
const tool = `
const cache = process.env.CCACHE_REMOTE_STORAGE.split("|")[0];
for (const key of ["a".repeat(40), "b".repeat(40)]) {
  const address = cache + "/" + key.slice(0, 2) + "/" + key.slice(2);
  const found = await fetch(address);
  await found.arrayBuffer();
  if (found.status !== 200) await fetch(address, { method: "PUT", body: "made of " + key });
}
`;

/** Runs a build with a granary that finds neither of its two results; resolves when the farm has its report. */
export async function runBuildWithGranary(url: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "grange-exec-"));
  const repository = await sampleRepository({ "tool.mjs": tool });
  const options = {
    cwd: repository.path,
    env: {
      GRANGE_SERVER: url,
      XDG_RUNTIME_DIR: "",
      GRANGE_GRANARY_DATA: join(directory, "granary"),
      HOME: directory,
    },
  };
  try {
    await mustRun(["exec", "--", process.execPath, "tool.mjs"], options);
    const reports = async () => {
      const answer = await fetch(`${url}/api/v1/granary/builds?project=default`);
      return GranaryBuilds.parse(await answer.json()).builds;
    };
    while ((await reports()).length === 0) await wait(100);
  } finally {
    await runGrange(["granary", "stop"], options);
    await repository.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function mustRun(
  words: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<void> {
  const { code, stderr } = await runGrange(words, options);
  if (code !== 0) throw new Error(`grange ${words.join(" ")} failed: ${stderr}`);
}
