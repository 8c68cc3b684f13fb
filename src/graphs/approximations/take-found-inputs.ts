import { createHash } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { CommitInputReader, CommitInputs, CommitPlace } from "../commit-inputs.ts";
import type { NeededOutput } from "../run.store.ts";
import { chooseFoundInputs, type FoundInputsRules } from "./choose-found-inputs.ts";
import { mostListBytes, readInputList } from "./read-input-list.ts";

/**
 * Returns the files of a commit that another job has found for this one.
 *
 * Throws `failed_precondition`, naming that job, when its list is missing or invalid.
 */
export async function takeFoundInputs(
  { store, inputs }: { readonly store: BlobStore; readonly inputs: CommitInputReader },
  commit: CommitPlace,
  from: NonNullable<JobDefinition["inputs-from"]>,
  rules: FoundInputsRules,
  made: NeededOutput | undefined,
  lfs?: boolean,
): Promise<CommitInputs> {
  const named = `"${from.output}" of job "${from.job}", which finds the inputs,`;
  const result = made?.result ? fromBinary(ActionResultSchema, made.result) : undefined;
  const [entry] = (result && (await outputOf(store, result, from.output))) ?? [];
  if (entry?.kind !== "file" || entry.path !== from.output)
    throw new Fault("failed_precondition", `${named}, was not made, or is not a file`);
  if (entry.digest.sizeBytes > mostListBytes)
    throw new Fault("failed_precondition", `${named}, has more than 16 MiB`);
  const { digest } = entry;
  const rule = `found ${digestKey(digest)} ${keyOf(rules, named)}`;
  const choose = await chooserOf(store, digest, rules, named);
  return inputs.readChosen(commit, rule, choose, { lfs });
}

async function chooserOf(
  store: BlobStore,
  digest: Parameters<BlobStore["get"]>[0],
  rules: FoundInputsRules,
  named: string,
) {
  const bytes = await store.get(digest);
  if (bytes === undefined) throw new Fault("unavailable", `${named}, is not in the store`);
  const list = readInputList(bytes, named);
  return <Entry extends { readonly path: string }>(entries: readonly Entry[]) =>
    chooseFoundInputs(entries, rules, list, named);
}

/** The limits for the inputs that are found for a job. */
export function rulesOf(definition: JobDefinition): FoundInputsRules {
  return { inputs: definition.inputs, mayRead: definition["may-read"] ?? [] };
}

function keyOf(rules: FoundInputsRules, named: string): string {
  return createHash("sha256")
    .update(JSON.stringify([rules, named]))
    .digest("hex");
}
