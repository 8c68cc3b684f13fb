import { fromBinary } from "@bufbuild/protobuf";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * The ActionResult that bytes are, as far as can be told; undefined for bytes of another kind.
 *
 * Some tools put what they like under `/ac/`. Nearly any short text reads as a message with fields
 * that nobody knows, so that one without any known field is taken for opaque, too.
 */
export function asActionResult(bytes: Uint8Array): ActionResult | undefined {
  try {
    const result = fromBinary(ActionResultSchema, bytes);
    return result.$unknown === undefined ? result : undefined;
  } catch {
    return undefined;
  }
}
