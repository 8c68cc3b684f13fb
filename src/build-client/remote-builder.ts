import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree, putMissing } from "#cas/build-directory-tree.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { faultOf } from "#grpc/status.ts";
import {
  ActionSchema,
  CommandSchema,
  type ExecuteResponse,
  ExecuteResponseSchema,
  Execution,
  RequestMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** One action of a build: a command, the files that it reads and the files that it makes. */
interface RemoteAction {
  /** The kind of action, such as `CCompile`. */
  readonly mnemonic: string;
  /** The target that the action belongs to, such as `//c:word_table`. */
  readonly target: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly inputs: readonly RemoteFile[];
  readonly outputs: readonly string[];
}

export interface RemoteFile {
  readonly path: string;
  readonly digest: Digest;
  readonly executable: boolean;
}

export interface RemoteResult {
  readonly exitCode: number;
  /** Whether the result came from the action cache, without any execution. */
  readonly cached: boolean;
  readonly outputs: readonly RemoteFile[];
}

/** A client of the Remote Execution API for one invocation of a build. */
export interface RemoteBuilder {
  upload(path: string, bytes: Uint8Array): Promise<RemoteFile>;
  /** Throws a Fault when the farm could not execute the action; a command that failed is a result. */
  run(action: RemoteAction): Promise<RemoteResult>;
  close(): Promise<void>;
}

interface RemoteBuilderOptions {
  readonly url: string;
  /** The instance name; empty is the farm's default project. */
  readonly project: string;
  readonly invocation: string;
  readonly tool: { readonly name: string; readonly version: string };
  readonly token?: string | undefined;
  readonly ca?: string[] | undefined;
}

const metadataHeader = "build.bazel.remote.execution.v2.requestmetadata-bin";

/** Opens a connection to a farm. Paths of inputs are relative to the working directory of each action. */
export function remoteBuilder(options: RemoteBuilderOptions): RemoteBuilder {
  const { project, invocation, tool, token } = options;
  const channel = new GrpcChannel({
    url: options.url,
    ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
    metadata: () => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  const blobs: BlobStore = remoteBlobStore(channel, project);

  return {
    async upload(path, bytes) {
      const blob = { digest: digestOf(bytes), bytes };
      await putMissing(blobs, [blob]);
      return { path, digest: blob.digest, executable: false };
    },

    async run(action) {
      const tree = buildDirectoryTree(action.inputs.map((file) => ({ kind: "file", ...file })));
      const command = toBinary(
        CommandSchema,
        create(CommandSchema, {
          arguments: [...action.arguments],
          environmentVariables: Object.entries(action.environment)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, value]) => ({ name, value })),
          outputPaths: [...action.outputs].toSorted(),
        }),
      );
      const commandDigest = digestOf(command);
      const message = toBinary(
        ActionSchema,
        create(ActionSchema, {
          commandDigest: toDigestMessage(commandDigest),
          inputRootDigest: toDigestMessage(tree.root.digest),
        }),
      );
      const actionDigest = digestOf(message);
      // All at once: each request to a far farm takes its whole round trip.
      await putMissing(blobs, [
        ...tree.directories.values(),
        { digest: commandDigest, bytes: command },
        { digest: actionDigest, bytes: message },
      ]);
      const requestMetadata = create(RequestMetadataSchema, {
        toolDetails: { toolName: tool.name, toolVersion: tool.version },
        toolInvocationId: invocation,
        actionId: actionDigest.hash,
        actionMnemonic: action.mnemonic,
        targetId: action.target,
      });
      const operations = channel.serverStream(
        Execution.method.execute,
        { instanceName: project, actionDigest: toDigestMessage(actionDigest) },
        { metadata: { [metadataHeader]: toBinary(RequestMetadataSchema, requestMetadata) } },
      );
      for await (const { done, result } of operations) {
        if (!done) continue;
        if (result.case === "error") throw faultOf(result.value) ?? noResult(action);
        if (result.case !== "response") throw noResult(action);
        return resultOf(fromBinary(ExecuteResponseSchema, result.value.value), action);
      }
      throw noResult(action);
    },

    close: () => channel.stop(),
  };
}

function resultOf(
  { result, status, cachedResult }: ExecuteResponse,
  action: RemoteAction,
): RemoteResult {
  if (result === undefined) throw (status && faultOf(status)) ?? noResult(action);
  return {
    exitCode: result.exitCode,
    cached: cachedResult,
    outputs: result.outputFiles.map((file) => ({
      path: file.path,
      digest: fromDigestMessage(file.digest, `output ${file.path}`),
      executable: file.isExecutable,
    })),
  };
}

function noResult({ target }: RemoteAction): Fault {
  return new Fault("internal", `the farm answered without a result for ${target}`);
}
