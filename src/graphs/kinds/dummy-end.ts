import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { NamedBlob } from "../build-action.ts";
import type { ServerJobEnd } from "./server-job-end.ts";

/** Returns the end of a dummy's run, as its definition states for each run. */
export function dummyEnd(name: string, definition: JobDefinition, run: number): ServerJobEnd {
  const dummy = definition.dummy ?? {};
  const outcome =
    dummy.outcomes?.[run - 1] ?? dummy.outcomes?.at(-1) ?? dummy.outcome ?? "succeeded";
  const isGood = outcome === "succeeded";
  return {
    outcome,
    message: isGood ? null : "it is a dummy with this outcome",
    exitCode: isGood ? 0 : (dummy["exit-code"] ?? null),
    failureClass: isGood ? null : (dummy["failure-class"] ?? null),
    result: isGood ? resultOf(dummyOutputs(name, definition, run)) : null,
    setAside: null,
  };
}

/** Returns the outputs of a dummy: each is a small file with the name of the job, and of the run where runs differ. */
export function dummyOutputs(
  name: string,
  definition: JobDefinition,
  run: number,
): (NamedBlob & { readonly path: string })[] {
  return (definition.outputs ?? []).map((path) => {
    const of = definition.dummy?.changes === true ? `${name}, run ${run}` : name;
    const bytes = new TextEncoder().encode(`${path} of ${of}\n`);
    return { path, bytes, digest: digestOf(bytes) };
  });
}

function resultOf(outputs: ReturnType<typeof dummyOutputs>): Uint8Array | null {
  if (outputs.length === 0) return null;
  const outputFiles = outputs.map(({ path, digest }) => ({
    path,
    digest: toDigestMessage(digest),
  }));
  return toBinary(ActionResultSchema, create(ActionResultSchema, { exitCode: 0, outputFiles }));
}
