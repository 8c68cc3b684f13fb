import { fromBinary } from "@bufbuild/protobuf";
import type { JobDetail, Run } from "#api/graph.ts";
import { extraManifestFile, mostExtraBytes, type RunManifest } from "#api/manifest.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { RunOutput } from "#graphs/job-detail.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readRunOutput } from "./run-output.ts";

/** Writes a finished run's manifest; throws `failed_precondition` for an unfinished run. */
export async function runManifest(
  blobsOf: (project: string) => BlobStore,
  { graph, job }: Pick<JobDetail, "graph" | "job">,
  run: Run,
  output: RunOutput,
): Promise<RunManifest> {
  if (run.outcome === null || run.finishedAt === null) {
    const message = `run ${run.number} of "${job.name}" is not over; its manifest comes with its end`;
    throw new Fault("failed_precondition", message);
  }
  const url = `/api/v1/graphs/${graph.id}/jobs/${encodeURIComponent(job.name)}/runs/${run.number}`;
  const { repository, commit, branch } = graph;
  const { failureClass, errorLines, numbers } = run;
  return {
    format: 1,
    repository,
    commit,
    branch,
    graph: graph.id,
    job: job.name,
    kind: job.kind,
    run: run.number,
    cause: run.cause,
    servedBy: run.servedBy,
    worker: run.worker,
    action: run.actionDigest === "" ? null : run.actionDigest,
    cached: run.cachedFrom !== null,
    customised: job.customised,
    outcome: run.outcome,
    exitCode: run.exitCode,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    outputs: run.outputs.map((made) => ({
      ...made,
      url:
        made.kind === "file"
          ? `${url}/outputs/${made.path.split("/").map(encodeURIComponent).join("/")}`
          : null,
    })),
    log: { url: `${url}/log`, digest: logDigestOf(output) },
    findings: { failureClass, errorLines, numbers },
    ...(await extraOf(blobsOf, run, output)),
  };
}

function logDigestOf({ result }: RunOutput): string | null {
  if (result === null) return null;
  const { stdoutDigest } = fromBinary(ActionResultSchema, result);
  return stdoutDigest === undefined ? null : `${stdoutDigest.hash}/${stdoutDigest.sizeBytes}`;
}

/** Returns the job's own part of the manifest. An invalid part does not make the run fail, and hides no other part. */
async function extraOf(
  blobsOf: (project: string) => BlobStore,
  run: Run,
  output: RunOutput,
): Promise<Pick<RunManifest, "extra" | "extraProblem">> {
  const file = run.outputs.find(({ path, kind }) => path === extraManifestFile && kind === "file");
  if (file === undefined) return { extra: null, extraProblem: null };
  const problem = (extraProblem: string) => ({ extra: null, extraProblem });
  if ((file.sizeBytes ?? 0) > mostExtraBytes) {
    return problem(`${extraManifestFile} has ${file.sizeBytes} bytes, more than ${mostExtraBytes}`);
  }
  try {
    const found = await readRunOutput(blobsOf, output, extraManifestFile);
    if (found === undefined) return problem(`${extraManifestFile} is not kept any more`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.chunks) chunks.push(chunk);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return { extra: JSON.parse(text) as RunManifest["extra"], extraProblem: null };
  } catch (reason) {
    return problem(`${extraManifestFile} cannot be read as JSON: ${messageOf(reason)}`);
  }
}
