import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { flattenDirectoryTree } from "#cas/flatten-directory-tree.ts";
import { assertLegalPath } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { type Digest, functionOf, parseDigestKey } from "#core/digest.ts";
import { durationText } from "#core/duration-text.ts";
import { Fault } from "#core/fault.ts";
import { type LocalEnd, LocalExecutor } from "#local-run/local-executor.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readWorkerConfig } from "#worker/config.ts";
import type { ReproduceOptions } from "../commands/reproduce.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { readBlob } from "../read-blob.ts";
import { answer, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { hideFarmData } from "../work-here.ts";
import { compareResults, outputsOf } from "./compare-results.ts";
import { fetchingBlobStore } from "./fetching-blob-store.ts";
import { runScript } from "./run-script.ts";
import { writeTree } from "./write-tree.ts";

/** Fetches an execution's action into a new directory, runs it, and compares its result with that of the farm. */
export async function reproduce(
  session: Session,
  id: string,
  options: ReproduceOptions,
): Promise<ExitCode> {
  const { api, terminal } = session;
  const execution = await api.call(executionEndpoints.execution, { params: { execution: id } });
  const { command, inputRoot } = execution;
  if (command === null || inputRoot === null) {
    throw new Fault("failed_precondition", "the farm no longer has the command or the inputs");
  }
  if (command.workingDirectory !== "") assertLegalPath(command.workingDirectory);
  const dir = resolve(options.into ?? `reproduce-${execution.id.slice(0, 8)}`);
  await makeNew(dir);
  // Blobs and the worker's own files. Only what people read stays.
  const scratch = join(dir, ".grange");
  try {
    await mkdir(scratch);
    const local = await openDiskBlobStore(join(scratch, "blobs"));
    const store = fetchingBlobStore(api, execution.project, local);
    const entries = await flattenDirectoryTree(store, parseDigestKey(inputRoot));
    await writeTree(store, entries, join(dir, "inputs"));
    await writeFile(join(dir, "command.json"), `${JSON.stringify(command, undefined, 2)}\n`);
    await writeFile(join(dir, "run.sh"), runScript(command));
    await chmod(join(dir, "run.sh"), 0o755);
    terminal.notes.line(`${entries.length} inputs are in ${join(dir, "inputs")}`);
    if (!options.run) {
      return answer(session, options, { directory: dir, ran: false }, () => [
        `Run it by hand, without a sandbox: ${join(dir, "run.sh")}`,
      ]);
    }
    const end = await runInSandbox(session, execution, store, { dir, scratch });
    return await compared(session, options, execution, end, { dir, store });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function makeNew(dir: string): Promise<void> {
  try {
    await mkdir(dir);
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const why = exists ? "it exists already; name a new one with --into" : String(cause);
    throw new Fault("failed_precondition", `cannot make ${dir}: ${why}`, { cause });
  }
}

interface Places {
  readonly dir: string;
  readonly scratch: string;
}

async function runInSandbox(
  { api, terminal }: Session,
  { actionDigest, project, timeoutMs }: ExecutionDetail,
  store: BlobStore,
  { dir, scratch }: Places,
): Promise<LocalEnd> {
  const digest = parseDigestKey(actionDigest);
  const action = await readBlob(api, project, digest);
  const { commandDigest } = fromBinary(ActionSchema, action);
  const command = await readBlob(api, project, commandOf(commandDigest, digest));
  const config = await hideFarmData(readWorkerConfig({ dataDir: join(scratch, "worker") }), {});
  const executor = await LocalExecutor.open(config).catch((reason: unknown) => {
    const why = reason instanceof Fault ? reason.message : String(reason);
    throw new Fault(
      "failed_precondition",
      `${why}\nWithout a sandbox, run it by hand: ${join(dir, "run.sh")}`,
      { cause: reason },
    );
  });
  try {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => stop.abort("cancelled"));
    }
    return await executor.runAction(
      {
        action,
        command,
        timeoutMs,
        digestFunction: functionOf(digest),
        signal: stop.signal,
        print: (bytes) => terminal.notes.write(Buffer.from(bytes).toString()),
      },
      store,
    );
  } finally {
    await executor.close();
  }
}

function commandOf(message: Parameters<typeof fromDigestMessage>[0], action: Digest): Digest {
  return fromDigestMessage(message, "the command", functionOf(action));
}

async function compared(
  session: Session,
  options: ReproduceOptions,
  execution: ExecutionDetail,
  { result, message, durationMs }: LocalEnd,
  { dir, store }: { readonly dir: string; readonly store: BlobStore },
): Promise<ExitCode> {
  if (result === undefined)
    throw new Fault("failed_precondition", `it did not run here: ${message}`);
  const here = {
    exitCode: result.exitCode,
    outputs: outputsOf(result, functionOf(parseDigestKey(execution.actionDigest))),
  };
  await writeOutputs(store, here.outputs, join(dir, "outputs"));
  const differences = compareResults(execution, here);
  const isSame = differences.length === 0;
  answer(session, options, { directory: dir, ran: true, ...here, differences }, () => [
    `exit ${here.exitCode} after ${durationText(durationMs)}, ${here.outputs.length} outputs`,
    ...(isSame
      ? ["The result is the same as on the farm."]
      : ["The result differs from the farm:"]),
    ...differences.map((each) => `  ${printableLine(each)}`),
  ]);
  return isSame ? exitCodes.ok : exitCodes.failed;
}

/** Writes the files and links that the command made. Directories are compared by their digests alone. */
async function writeOutputs(
  store: BlobStore,
  outputs: ReturnType<typeof outputsOf>,
  root: string,
): Promise<void> {
  const entries = outputs.flatMap((output): TreeEntry[] => {
    switch (output.kind) {
      case "file": {
        const { path, executable, blob } = output;
        return [{ kind: "file", path, executable, digest: parseDigestKey(blob) }];
      }
      case "symlink":
        return [output];
      case "directory":
        return [];
    }
  });
  await writeTree(store, entries, root);
}
