import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { describeRight } from "#core/right.ts";
import { pathOf } from "#grpc/method.ts";
import {
  ActionCache,
  Capabilities,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { PublishBuildEvent } from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { methodPurposes } from "./method-purposes.ts";
import { methodRights } from "./method-rights.ts";

/** The services of the farm, in the order of the document, each with its callers. */
const services: readonly { readonly service: DescService; readonly callers: string }[] = [
  { service: Capabilities, callers: "Build tools call it first." },
  { service: Execution, callers: "Build tools with remote execution." },
  { service: ActionCache, callers: "Build tools." },
  { service: ContentAddressableStorage, callers: "Build tools, workers and granaries." },
  { service: ByteStream, callers: "Build tools, workers and granaries." },
  { service: Operations, callers: "Build tools that lost the stream of `Execute`." },
  { service: PublishBuildEvent, callers: "Bazel and other tools that report builds." },
  { service: Granaries, callers: "Granaries. Its messages can change with each version." },
  { service: Workers, callers: "Workers. Its messages can change with each version." },
];

/**
 * Returns the tables of docs/grpc-api.md, in Markdown, one for each service, from the descriptors of the protocols.
 *
 * Throws when a method that the farm serves is in none of the services, or has no purpose.
 */
export function grpcMethodTables(): string {
  const known = new Set(services.flatMap(({ service }) => service.methods.map(pathOf)));
  const unlisted = Object.keys(methodRights).filter((path) => !known.has(path));
  if (unlisted.length > 0) throw new Error(`in no service: ${unlisted.join(", ")}`);
  return services
    .map(({ service, callers }) =>
      [
        `### ${service.name}`,
        "",
        `\`${service.typeName}\`, in \`${service.file.name}.proto\`. ${callers}`,
        "",
        "| method | takes → answers | right | |",
        "|---|---|---|---|",
        ...service.methods.map(rowOf),
        "",
      ].join("\n"),
    )
    .join("\n");
}

function rowOf(method: DescMethod): string {
  const path = pathOf(method);
  const right = methodRights[path];
  const purpose = methodPurposes[path];
  const { methodKind: kind } = method;
  const takes = streamOr(kind === "client_streaming" || kind === "bidi_streaming", method.input);
  const answers = streamOr(kind === "server_streaming" || kind === "bidi_streaming", method.output);
  const head = `| \`${method.name}\` | ${takes} → ${answers} |`;
  if (right === undefined) return `${head} – | Is not served: \`UNIMPLEMENTED\`. |`;
  if (purpose === undefined) throw new Error(`src/server/grpc/method-purposes.ts lacks ${path}`);
  return `${head} ${describeRight(right)} | ${purpose} |`;
}

function streamOr(isStream: boolean, { name }: DescMethod["input"]): string {
  return isStream ? `stream of \`${name}\`` : `\`${name}\``;
}
