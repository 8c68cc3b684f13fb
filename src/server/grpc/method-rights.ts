import { noRight, type Right, rightSomewhere } from "#core/right.ts";

/** Build tools, granaries and workers read the data that they use; so do callers that may only read. */
const lookUp = rightSomewhere("read", "execute", "cache", "report", "work");
/** Callers with one of these rights have bytes to send: inputs, entries of caches, build events, outputs. */
const write = rightSomewhere("execute", "cache", "report", "work", "upload");
/** Callers that upload ask first which blobs are missing. */
const find = rightSomewhere("read", "execute", "cache", "report", "work", "upload");
/** Blobs and logs are streams of one method. */
const readStream = rightSomewhere("read", "read-logs", "execute", "cache", "report", "work");
/** Readers of a project know of its operations. */
const operations = rightSomewhere("execute", "read");
const execute = rightSomewhere("execute");
const keepResults = rightSomewhere("cache", "execute", "report", "work");
const work = rightSomewhere("work");
const report = rightSomewhere("report");
/** The protocols are in the package, but who has no right on a farm learns nothing of it. */
const useAnything = rightSomewhere("read", "execute", "cache", "report", "work", "upload");
const probe = noRight("load balancers and service managers have no token");

/**
 * The gRPC methods that the farm serves, each with the right that is checked before its handler runs.
 *
 * The handler checks the grant for the exact project or pool, after it has read the name.
 */
export const methodRights: Readonly<Record<string, Right>> = {
  "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities": noRight(
    "tools ask before they send a token",
  ),
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs": find,
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs": lookUp,
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree": lookUp,
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs": write,
  // Splitting a blob that was not split yet needs the right to put blobs, too; splicing reads the chunks.
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/SplitBlob": lookUp,
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/SpliceBlob": write,
  "/google.bytestream.ByteStream/Read": readStream,
  "/google.bytestream.ByteStream/Write": write,
  "/google.bytestream.ByteStream/QueryWriteStatus": write,
  "/build.bazel.remote.execution.v2.ActionCache/GetActionResult": lookUp,
  "/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult": keepResults,
  "/build.bazel.remote.execution.v2.Execution/Execute": execute,
  "/build.bazel.remote.execution.v2.Execution/WaitExecution": operations,
  // A download by the farm needs the right to put blobs into the project, too.
  "/build.bazel.remote.asset.v1.Fetch/FetchBlob": lookUp,
  "/build.bazel.remote.asset.v1.Fetch/FetchDirectory": lookUp,
  "/build.bazel.remote.asset.v1.Push/PushBlob": keepResults,
  "/build.bazel.remote.asset.v1.Push/PushDirectory": keepResults,
  "/google.longrunning.Operations/GetOperation": operations,
  "/google.longrunning.Operations/WaitOperation": operations,
  // The right to cancel any execution is checked against the operation.
  "/google.longrunning.Operations/CancelOperation": rightSomewhere("execute", "cancel"),
  "/google.longrunning.Operations/DeleteOperation": execute,
  "/google.longrunning.Operations/ListOperations": execute,
  "/google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent": report,
  "/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream": report,
  "/grange.granary.v1.Granaries/Resolve": lookUp,
  "/grange.granary.v1.Granaries/LookUp": lookUp,
  "/grange.granary.v1.Granaries/Fetch": lookUp,
  "/grange.granary.v1.Granaries/PublishResults": keepResults,
  "/grange.granary.v1.Granaries/PublishIndex": keepResults,
  "/grange.granary.v1.Granaries/ReportBuild": rightSomewhere("cache"),
  "/grange.granary.v1.Granaries/ReportDivergence": rightSomewhere("cache"),
  "/grange.worker.v1.Workers/Register": work,
  "/grange.worker.v1.Workers/Claim": work,
  "/grange.worker.v1.Workers/LookAhead": work,
  "/grange.worker.v1.Workers/Heartbeat": work,
  "/grange.worker.v1.Workers/Cancellations": work,
  "/grange.worker.v1.Workers/Started": work,
  "/grange.worker.v1.Workers/Release": work,
  "/grange.worker.v1.Workers/Finish": work,
  "/grange.worker.v1.Workers/AppendLog": work,
  "/grpc.health.v1.Health/Check": probe,
  "/grpc.health.v1.Health/List": probe,
  "/grpc.health.v1.Health/Watch": probe,
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo": useAnything,
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": useAnything,
};
