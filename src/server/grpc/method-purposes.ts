/** What each gRPC method that the farm serves is for, one sentence each; docs/grpc-api.md lists them. */
export const methodPurposes: Readonly<Record<string, string>> = {
  "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities":
    "Returns the versions, digest functions, compressors and limits that the farm supports.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs":
    "Returns which of the given blobs the farm does not have.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs":
    "Reads several small blobs.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree":
    "Reads a directory with all directories below it, in pages.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs":
    "Writes several small blobs.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/SplitBlob":
    "Returns the chunks of a large blob, so that a client reads only those that it lacks.",
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/SpliceBlob":
    "Makes a large blob of chunks that the farm has.",
  "/google.bytestream.ByteStream/Read":
    "Reads one blob of any size, or the log of a running execution, from an offset.",
  "/google.bytestream.ByteStream/Write":
    "Writes one blob of any size; an interrupted write can be continued.",
  "/google.bytestream.ByteStream/QueryWriteStatus":
    "Returns how many bytes of an interrupted write the farm has.",
  "/build.bazel.remote.execution.v2.ActionCache/GetActionResult":
    "Returns the stored result of an action, if all its outputs are in the store.",
  "/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult":
    "Stores the result of an action that the client executed itself.",
  "/build.bazel.remote.execution.v2.Execution/Execute":
    "Executes an action on a worker, or returns its stored result; the stream reports each stage.",
  "/build.bazel.remote.execution.v2.Execution/WaitExecution":
    "Follows an operation that `Execute` started, after a lost connection.",
  "/build.bazel.remote.asset.v1.Fetch/FetchBlob":
    "Returns the blob of a URI with its qualifiers: stored content, or what the farm downloads.",
  "/build.bazel.remote.asset.v1.Fetch/FetchDirectory":
    "Returns the directory that was pushed for a URI with its qualifiers.",
  "/build.bazel.remote.asset.v1.Push/PushBlob":
    "Stores under which URIs and qualifiers a blob of the project is found.",
  "/build.bazel.remote.asset.v1.Push/PushDirectory":
    "Stores under which URIs and qualifiers a directory of the project is found.",
  "/google.longrunning.Operations/GetOperation": "Returns the present state of an operation.",
  "/google.longrunning.Operations/WaitOperation":
    "Returns the state of an operation when it has ended, or when the given time is over.",
  "/google.longrunning.Operations/CancelOperation":
    "Cancels an operation. The execution stops when nobody else waits for it.",
  "/google.longrunning.Operations/DeleteOperation":
    "Succeeds without an effect: the farm removes ended operations itself.",
  "/google.longrunning.Operations/ListOperations":
    "Is refused with `UNIMPLEMENTED`: the pages and the HTTP API list operations by invocation.",
  "/google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent":
    "Reports that an invocation of a build tool was enqueued, started or ended.",
  "/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream":
    "Sends the events of an invocation of a build tool; each event that is stored is acknowledged.",
  "/grange.granary.v1.Granaries/Resolve":
    "Returns which commit indexes the farm has for a build: of its commit, tree, ancestors, branch or repository.",
  "/grange.granary.v1.Granaries/LookUp":
    "Returns results by their keys, with their small blobs if the caller asks for them.",
  "/grange.granary.v1.Granaries/Fetch":
    "Returns results and blobs in the order of the request, many of them packed together.",
  "/grange.granary.v1.Granaries/PublishResults":
    "Stores results whose blobs are in the farm's store already.",
  "/grange.granary.v1.Granaries/PublishIndex":
    "Adds the results that a build requested to the index of its commit.",
  "/grange.granary.v1.Granaries/ReportBuild":
    "Reports where the results of a build came from, for the pages of granaries.",
  "/grange.granary.v1.Granaries/ReportDivergence":
    "Reports a result that differed when it was made again; the farm quarantines it.",
  "/grange.worker.v1.Workers/Register":
    "Makes a worker known, or renews what the farm knows of it. A worker calls it at each start.",
  "/grange.worker.v1.Workers/Claim":
    "Waits for work, at most the given time; the answer has no leases if there was none.",
  "/grange.worker.v1.Workers/LookAhead":
    "Returns actions that the worker will probably get next, so that it can fetch their inputs. Nothing is promised.",
  "/grange.worker.v1.Workers/Heartbeat":
    "Extends the leases of a worker, and returns those that are lost or cancelled.",
  "/grange.worker.v1.Workers/Cancellations":
    "Confirms cancellations, and waits for more, at most the given time.",
  "/grange.worker.v1.Workers/Started": "Reports that the process of a lease has started.",
  "/grange.worker.v1.Workers/Release": "Returns leases that the worker has not started.",
  "/grange.worker.v1.Workers/Finish":
    "Ends leases with their results. Each is judged alone: a refusal does not affect the others.",
  "/grange.worker.v1.Workers/AppendLog":
    "Appends to the log of a running attempt at an offset: bytes that exist are not written again, and a gap is refused.",
  "/grpc.health.v1.Health/Check":
    "Returns whether the server should get calls; a service has the status of the whole server.",
  "/grpc.health.v1.Health/List": "Returns the status of the server and of each service.",
  "/grpc.health.v1.Health/Watch":
    "Sends the status at once, and again whenever it changes; ends when the server stops.",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":
    "Returns the names of the served services, and the descriptors of their protocols.",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo":
    "Returns the names of the served services, and the descriptors of their protocols.",
};
