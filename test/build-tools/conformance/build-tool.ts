import { randomUUID } from "node:crypto";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  ActionCache,
  type ActionResult,
  ActionSchema,
  CommandSchema,
  ContentAddressableStorage,
  type Digest,
  DigestFunction_Value,
  DirectorySchema,
  type ExecuteRequestSchema,
  type ExecuteResponse,
  ExecuteResponseSchema,
  Execution,
  type FileNodeSchema,
  type GetActionResultRequestSchema,
  RequestMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import type { ForeignClient, Headers, Incoming } from "./foreign-client.ts";
import { bytesOf, digestBy } from "./foreign-digest.ts";

type Changes<S extends DescMessage> = Omit<MessageInitShape<S>, "$typeName" | "$unknown">;
type Child = string | Folder | Link | Special;
interface Folder {
  readonly [name: string]: Child;
}
class Link {
  readonly target: string;
  constructor(target: string) {
    this.target = target;
  }
}
type FileInit = Changes<typeof FileNodeSchema> & { readonly text?: string };
class Special {
  readonly node: FileInit;
  constructor(node: FileInit) {
    this.node = node;
  }
}
export const link = (target: string) => new Link(target);
/**
 * A file with properties in addition to its text. With an explicit `digest`, no content is uploaded
 * for it.
 */
export const file = (node: FileInit) => new Special(node);

export interface ActionSpec {
  readonly script?: string;
  readonly inputs?: Folder;
  readonly command?: Changes<typeof CommandSchema>;
  readonly action?: Changes<typeof ActionSchema>;
}

/** A completed Execute call: the stream ended with OK, and its last operation has a response. */
interface Ran {
  readonly operation: Operation;
  readonly response: ExecuteResponse;
  readonly result: ActionResult;
}

export interface ToolOptions {
  readonly instanceName?: string;
  readonly digestFunction?: DigestFunction_Value;
  readonly token?: string;
  readonly said?: Changes<typeof RequestMetadataSchema>;
}

/** Makes the calls of a build tool: uploads inputs, looks in the cache, executes. */
export function buildTool(client: ForeignClient, options: ToolOptions = {}) {
  const { instanceName = "", digestFunction = DigestFunction_Value.UNKNOWN } = options;
  const where = { instanceName, digestFunction };
  const headers: Headers = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.said === undefined
      ? {}
      : {
          "build.bazel.remote.execution.v2.requestmetadata-bin": Buffer.from(
            toBinary(RequestMetadataSchema, create(RequestMetadataSchema, options.said)),
          ),
        }),
  };
  const digestOf = (bytes: Uint8Array) => digestBy(digestFunction, bytes);

  const tool = {
    client,
    where,
    headers,
    digestOf,

    async put(data: Uint8Array): Promise<Digest> {
      const digest = await digestOf(data);
      const { responses } = await client.unary(
        ContentAddressableStorage.method.batchUpdateBlobs,
        { ...where, requests: [{ digest, data }] },
        headers,
      );
      const code = responses[0]?.status?.code;
      if (code !== undefined && code !== 0) throw new Error(responses[0]?.status?.message);
      return digest;
    },

    async read(digest: Digest | undefined): Promise<Uint8Array | undefined> {
      if (digest === undefined) return undefined;
      const { responses } = await client.unary(
        ContentAddressableStorage.method.batchReadBlobs,
        { ...where, digests: [digest] },
        headers,
      );
      return responses[0]?.status?.code ? undefined : responses[0]?.data;
    },

    /** Uploads a tree of files, children first, and returns the digest of its root. */
    async putTree(folder: Folder): Promise<Digest> {
      return tool.put(toBinary(DirectorySchema, await directoryOf(folder)));
    },

    async putAction({ script, inputs = {}, command = {}, action = {} }: ActionSpec) {
      const argv = script === undefined ? {} : { arguments: ["/bin/sh", "-c", script] };
      const commandBytes = toBinary(CommandSchema, create(CommandSchema, { ...argv, ...command }));
      const message = create(ActionSchema, {
        commandDigest: await tool.put(commandBytes),
        inputRootDigest: await tool.putTree(inputs),
        // By default, each test has a different action.
        salt: bytesOf(randomUUID()),
        ...action,
      });
      return tool.put(toBinary(ActionSchema, message));
    },

    execute(
      actionDigest: Digest,
      changes: Changes<typeof ExecuteRequestSchema> = {},
    ): Incoming<Operation> {
      return client.stream(
        Execution.method.execute,
        { ...where, actionDigest, ...changes },
        headers,
      );
    },

    async ran(operations: Incoming<Operation>): Promise<Ran> {
      const operation = (await operations.rest()).at(-1);
      if (operation === undefined) throw new Error("no operation came");
      const response = responseIn(operation);
      return { operation, response, result: response.result ?? noResult(response) };
    },

    async run(spec: ActionSpec, changes: Changes<typeof ExecuteRequestSchema> = {}): Promise<Ran> {
      return tool.ran(tool.execute(await tool.putAction(spec), changes));
    },

    /** For executions without a result: returns only the response. */
    async responseTo(
      actionDigest: Digest,
      changes: Changes<typeof ExecuteRequestSchema> = {},
    ): Promise<ExecuteResponse> {
      const last = (await tool.execute(actionDigest, changes).rest()).at(-1);
      if (last === undefined) throw new Error("no operation came");
      return responseIn(last);
    },

    cached(actionDigest: Digest, changes: Changes<typeof GetActionResultRequestSchema> = {}) {
      return client.unary(
        ActionCache.method.getActionResult,
        { ...where, actionDigest, ...changes },
        headers,
      );
    },

    async missing(...blobDigests: Digest[]): Promise<Digest[]> {
      const answer = await client.unary(
        ContentAddressableStorage.method.findMissingBlobs,
        { ...where, blobDigests },
        headers,
      );
      return answer.missingBlobDigests;
    },
  };

  const directoryOf = async (folder: Folder) => {
    const directory = create(DirectorySchema);
    for (const [name, child] of Object.entries(folder).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (child instanceof Link) {
        directory.symlinks.push(
          ...create(DirectorySchema, { symlinks: [{ name, target: child.target }] }).symlinks,
        );
      } else if (typeof child === "string" || child instanceof Special) {
        const { text = "", ...node } = child instanceof Special ? child.node : { text: child };
        const digest = "digest" in node ? {} : { digest: await tool.put(bytesOf(text)) };
        directory.files.push(
          ...create(DirectorySchema, { files: [{ ...digest, ...node, name }] }).files,
        );
      } else {
        const digest = await tool.putTree(child);
        directory.directories.push(
          ...create(DirectorySchema, { directories: [{ name, digest }] }).directories,
        );
      }
    }
    return directory;
  };
  return tool;
}

export type BuildTool = ReturnType<typeof buildTool>;

/**
 * Returns the response of a completed operation. Fails unless the operation has the form that all clients understand:
 * done, and no `error`.
 */
export function responseIn(operation: Operation): ExecuteResponse {
  const { done, result, name } = operation;
  if (!done || name === "" || result.case !== "response") {
    throw new Error(`the last operation is done: ${done}, with ${result.case ?? "nothing"}`);
  }
  return fromBinary(ExecuteResponseSchema, result.value.value);
}

function noResult({ status }: ExecuteResponse): never {
  throw new Error(`there is no result: ${status?.code} ${status?.message}`);
}
