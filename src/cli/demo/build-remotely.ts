import { randomUUID } from "node:crypto";
import {
  type RemoteBuilder,
  type RemoteFile,
  type RemoteResult,
  remoteBuilder,
} from "#build-client/remote-builder.ts";
import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";
import { withUsualAuthorities } from "#grpc/authorities.ts";
import { outputOf } from "../run-program.ts";
import type { DemoFarm } from "./demo-farm.ts";
import { type PlannedAction, planRemoteBuild } from "./remote-actions.ts";

export interface RemoteBuildSummary {
  readonly invocation: string;
  readonly actions: number;
  readonly cached: number;
}

/** Builds the newest commit of the demo project with the Remote Execution API, like a build tool. */
export async function buildRemotely(farm: DemoFarm): Promise<RemoteBuildSummary> {
  const invocation = randomUUID();
  const { url, token, ca, version, path } = farm;
  const builder = remoteBuilder({
    url,
    project: defaultProject,
    invocation,
    tool: { name: "grange-demo", version },
    token,
    ca: ca === undefined ? undefined : withUsualAuthorities(ca),
  });
  try {
    const commit = await uploadCommit(builder, farm);
    const planned = planRemoteBuild([...commit.keys()], farm.tools);
    const results = await runAll(builder, planned, commit, path);
    const cached = results.filter((result) => result.cached).length;
    return { invocation, actions: results.length, cached };
  } finally {
    await builder.close();
  }
}

async function uploadCommit(
  builder: RemoteBuilder,
  { repository }: DemoFarm,
): Promise<ReadonlyMap<string, RemoteFile>> {
  const git = (...args: string[]) => outputOf("git", ["-C", repository.path, ...args]);
  const commit = repository.commits.at(-1) ?? "main";
  const listed = await git("ls-tree", "-r", "-z", "--name-only", commit);
  const files = new Map<string, RemoteFile>();
  for (const path of listed.split("\0").filter((name) => name !== "")) {
    const text = await git("cat-file", "blob", `${commit}:${path}`);
    files.set(path, await builder.upload(path, Buffer.from(text)));
  }
  return files;
}

/** Runs each action as soon as all its inputs exist. */
async function runAll(
  builder: RemoteBuilder,
  planned: readonly PlannedAction[],
  commit: ReadonlyMap<string, RemoteFile>,
  searchPath: string,
): Promise<RemoteResult[]> {
  const made = new Map<string, Promise<RemoteResult>>();
  const fileAt = async (path: string): Promise<RemoteFile> => {
    const file = commit.get(path) ?? (await made.get(path))?.outputs.find((it) => it.path === path);
    if (file !== undefined) return file;
    throw new Fault("not_found", `nothing makes ${path}`);
  };
  const results = planned.map((action) => {
    const running = runOne(builder, action, searchPath, () =>
      Promise.all(action.inputs.map(fileAt)),
    );
    for (const output of action.outputs) made.set(output, running);
    return running;
  });
  // All are awaited, so that no rejection is unhandled.
  await Promise.allSettled(results);
  return Promise.all(results);
}

async function runOne(
  builder: RemoteBuilder,
  { script, ...action }: PlannedAction,
  searchPath: string,
  inputs: () => Promise<RemoteFile[]>,
): Promise<RemoteResult> {
  const result = await builder.run({
    ...action,
    arguments: ["/bin/sh", "-c", script],
    environment: { PATH: searchPath },
    inputs: await inputs(),
  });
  if (result.exitCode === 0) return result;
  throw new Fault(
    "failed_precondition",
    `${action.mnemonic} of ${action.target} ended with exit code ${result.exitCode}`,
  );
}
