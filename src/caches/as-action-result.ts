import { fromBinary } from "@bufbuild/protobuf";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * Returns bytes as an ActionResult; undefined for other content, as far as can be decided.
 *
 * Some tools store other data under `/ac/`. Nearly any short text parses as a message with unknown fields, so one
 * without any known field counts as opaque, too.
 */
export function asActionResult(bytes: Uint8Array): ActionResult | undefined {
  try {
    const result = fromBinary(ActionResultSchema, bytes);
    return result.$unknown === undefined ? result : undefined;
  } catch {
    return undefined;
  }
}
