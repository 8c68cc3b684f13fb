import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { exactly, type Row } from "../../bench/show/row.ts";
import { startFarm } from "../../test/support/farm.ts";
import { runProgram } from "../../test/support/process.ts";
import { printRows } from "./print-rows.ts";

const projects = ["a", "b"];
const outputs = ["out/large.txt", "out/deep/made.sh"];

/** Returns why it cannot be tested here; undefined when it can. */
export function whyNoMoon(): string | undefined {
  if (process.env["GRANGE_MOON"] !== undefined) return undefined;
  return "GRANGE_MOON names no program; `npm install @moonrepo/cli@2.5.5` brings one, node_modules/.bin/moon";
}

/**
 * moon stores the outputs of its tasks in a cache over REv2, compressed, under actions that are JSON.
 *
 * Both tasks create equal files, too large for a batch: moon uploads them concurrently under one name.
 */
export async function moon(): Promise<Row[]> {
  const work = await mkdtemp(join(tmpdir(), "grange-moon-"));
  const farm = await startFarm({ workers: 0 });
  try {
    await layOut(work, farm.url.replace("http:", "grpc:"));
    const run = () =>
      runProgram(process.env["GRANGE_MOON"] ?? "", ["run", ":build"], {
        cwd: work,
        // moon does not accept a home directory as a workspace.
        env: { HOME: join(work, "home") },
      });
    const first = await run();
    if (first.code !== 0)
      throw new Error(`moon ended with ${first.code}:\n${first.stdout}${first.stderr}`);
    const made = await madeIn(work);
    await forget(work);
    const second = await run();
    const same = (await madeIn(work)) === made;
    const told = /Tasks: .*/.exec(second.stdout + second.stderr)?.[0] ?? second.stderr;
    const how = "moon run :build; then again without its local cache and the outputs";
    return [
      exactly("moon: again", told, "Tasks: 2 completed (2 cached)", "", how),
      exactly("moon: the same comes back", same ? "yes" : "no", "yes", "", how),
    ];
  } finally {
    await farm.stop();
    await rm(work, { recursive: true, force: true });
  }
}

async function layOut(work: string, host: string): Promise<void> {
  await mkdir(join(work, "home"));
  await mkdir(join(work, ".moon"));
  await writeFile(
    join(work, ".moon/workspace.yml"),
    `projects: [${projects.join(", ")}]
telemetry: false
vcs: { client: git, defaultBranch: main }
remote:
  host: '${host}'
  cache: { compression: zstd, instanceName: moon }
`,
  );
  // A new action, so that its result is in no cache.
  const script = `mkdir -p out/deep
(echo ${randomUUID()}; head -c 6000000 /dev/zero | tr '\\0' 'x') > out/large.txt
echo made > out/deep/made.sh; chmod +x out/deep/made.sh
`;
  for (const project of projects) {
    await mkdir(join(work, project));
    await writeFile(
      join(work, project, "moon.yml"),
      "tasks: { build: { command: 'bash make.sh', inputs: [make.sh], outputs: [out] } }\n",
    );
    await writeFile(join(work, project, "make.sh"), script);
    await chmod(join(work, project, "make.sh"), 0o755);
  }
  await writeFile(join(work, ".gitignore"), ".moon/cache\nhome\nout\n");
  const git = ["-c", "user.name=moon", "-c", "user.email=moon@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "a", "b"],
    [...git, "commit", "-qm", "Begin"],
  ]) {
    await runProgram("git", args, { cwd: work });
  }
}

async function forget(work: string): Promise<void> {
  await rm(join(work, ".moon/cache"), { recursive: true, force: true });
  for (const project of projects) await rm(join(work, project, "out"), { recursive: true });
}

async function madeIn(work: string): Promise<string> {
  const hash = createHash("sha256");
  for (const project of projects) {
    for (const output of outputs) {
      const path = join(work, project, output);
      hash.update(`${path} ${(await stat(path)).mode & 0o111}\n`).update(await readFile(path));
    }
  }
  return hash.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await printRows("moon's builds", whyNoMoon(), moon);
}
