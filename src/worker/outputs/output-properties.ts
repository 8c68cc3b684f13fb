import { lstat } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import {
  type NodeProperties,
  NodePropertiesSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The output properties that a command requests. */
export interface WantedProperties {
  readonly mtime: boolean;
  readonly unixMode: boolean;
}

/** The names of the API; BuildBox's older names mean the same. Other names are ignored, as the API requires. */
export function wantedProperties(names: readonly string[]): WantedProperties | undefined {
  const plain = new Set(names.map((name) => name.toLowerCase().replaceAll("_", "")));
  const wanted = { mtime: plain.has("mtime"), unixMode: plain.has("unixmode") };
  return wanted.mtime || wanted.unixMode ? wanted : undefined;
}

/** Reads the properties of a path; for a symlink, its own. */
export async function propertiesOf(
  path: string,
  { mtime, unixMode }: WantedProperties,
): Promise<NodeProperties> {
  const found = await lstat(path, { bigint: true });
  const second = 1_000_000_000n;
  return create(NodePropertiesSchema, {
    ...(mtime
      ? { mtime: { seconds: found.mtimeNs / second, nanos: Number(found.mtimeNs % second) } }
      : {}),
    ...(unixMode ? { unixMode: Number(found.mode & 0o7777n) } : {}),
  });
}
