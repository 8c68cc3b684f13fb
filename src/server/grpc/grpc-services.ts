import type { DescService } from "@bufbuild/protobuf";
import { Fetch, Push } from "#proto/build/bazel/remote/asset/v1/remote_asset_pb.ts";
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
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";

/** The gRPC services of the farm, in the order of docs/grpc-api.md, each with its callers. */
export const grpcServices: readonly { readonly service: DescService; readonly callers: string }[] =
  [
    { service: Capabilities, callers: "Build tools call it first." },
    { service: Execution, callers: "Build tools with remote execution." },
    { service: ActionCache, callers: "Build tools." },
    { service: ContentAddressableStorage, callers: "Build tools, workers and granaries." },
    { service: ByteStream, callers: "Build tools, workers and granaries." },
    {
      service: Fetch,
      callers: "Bazel with `--experimental_remote_downloader`, BuildStream, buildbox.",
    },
    { service: Push, callers: "BuildStream, and programs that prepare content for others." },
    { service: Operations, callers: "Build tools that lost the stream of `Execute`." },
    { service: PublishBuildEvent, callers: "Bazel and other tools that report builds." },
    { service: Granaries, callers: "Granaries. Its messages can change with each version." },
    { service: Workers, callers: "Workers. Its messages can change with each version." },
    { service: Health, callers: "Load balancers, service managers and `grpc_health_probe`." },
    { service: ServerReflection, callers: "`grpcurl` and other programs for people." },
    { service: ServerReflectionAlpha, callers: "Older versions of the same programs." },
  ];
